// Every view of the page after `make demo`: axe has no findings, and no view is wider than a phone.
import { checkView } from './views.mjs';

export default async function (page, url) {
  const overview = await (await fetch(new URL('/api/overview', url))).json();
  const profile = overview.profiles.find((p) => p.spans > 0);
  const other = overview.profiles.find((p) => p !== profile && p.measure.unit === profile.measure.unit);
  const trace = overview.traces.find((t) => t.profiles > 0);
  const { span_list: spans } = await (await fetch(new URL(`/api/traces/${trace.id}`, url))).json();
  const span = spans.find((s) => s.samples > 0);
  const operations = await (await fetch(new URL(`/api/operations?service=${encodeURIComponent(span.service)}&sort=-samples`, url))).json();
  const { name, kind } = operations.operations[0];
  const operation = new URLSearchParams({ service: span.service, operation: name, kind });
  const { last } = await (await fetch(new URL(`/api/service?service=${encodeURIComponent(span.service)}`, url))).json();
  const views = [
    ['overview', '#/', '.listing tbody tr'],
    ['profile', `#/profile/${profile.id}`, 'canvas[data-boxes]'],
    ['by-time', `#/profile/${profile.id}?order=time`, '.axis'],
    ['inverted', `#/profile/${profile.id}?order=inverted`, 'canvas[data-boxes]'],
    ['sandwich', `#/profile/${profile.id}?order=sandwich`, '.half + .half canvas[data-boxes]'],
    ['trace', `#/trace/${trace.id}?span=${span.id}`, 'canvas[data-boxes]'],
    ['compare', `#/compare?a=${profile.id}&b=${other.id}`, 'canvas[data-boxes]'],
    ['services', '#/services', '.listing tbody tr'],
    ['service-causes', `#/service?service=${encodeURIComponent(span.service)}&until=${last}`, '.causes tbody tr'],
    ['operations', `#/service?service=${encodeURIComponent(span.service)}&tab=operations`, '.listing tbody tr'],
    ['operation', `#/service?${operation}`, '.parts + .causes, .parts + .note'],
    ['operation-logs', `#/logs?${operation}`, '.chip'],
    ['logs', '#/logs', '.records li'],
    ['problems', '#/problems', 'h1:text-is("Problems")'],
  ];
  const findings = [];
  for (const view of views) findings.push(...await checkView(page, url, ...view));
  return { findings, views: views.length };
}
