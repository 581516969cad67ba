import { FlameChart, type ChartProps } from './chart'
import { useDetail } from './detail'
import { useView } from './view'

interface Props extends Omit<ChartProps, 'detail' | 'view' | 'onView'> {
  path?: string // the request for the whole graph
  q: URLSearchParams // of the address, which has the visible part
  zoom?: string // its key
}

// ZoomableChart is a flame chart whose visible part is in the address, with details of that part. A movement renders only the chart,
// not the view around it.
export function ZoomableChart({ path, q, zoom, ...props }: Props) {
  const { view, onView } = useView(q, zoom)
  const detail = useDetail(path, view, props.whole)
  return <FlameChart {...props} detail={detail} view={view} onView={onView} />
}
