// SPDX-License-Identifier: Apache-2.0

// The type of packaging/grafana-dashboard.json: Grafana's schema, with the options of the two kinds of panels that it uses. JSON has texts
// where the schema has members of enums.
import type { Dashboard, Panel, RowPanel } from "@grafana/schema";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type { FieldConfig, Options as SeriesOptions } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Fields = NonNullable<Panel["fieldConfig"]>;
type PanelOf<Type, Options, Custom> = Plain<Omit<Panel, "type" | "options" | "fieldConfig">> & {
  type: Type;
  options: Plain<Options>;
  fieldConfig: { defaults: Plain<Omit<Fields["defaults"], "custom">> & { custom?: Plain<Custom> }; overrides: Plain<Fields["overrides"]> };
};

export type Checked = Plain<Omit<Dashboard, "panels">> & {
  panels: (Plain<RowPanel> | PanelOf<"stat", StatOptions, never> | PanelOf<"timeseries", SeriesOptions, FieldConfig>)[];
};
