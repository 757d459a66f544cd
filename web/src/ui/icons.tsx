// Icons on a grid of 16, in the text colour. They repeat a label, so they are hidden from screen
// readers.
const paths = {
  dataspace: "M2 4.5 8 1.5l6 3v7l-6 3-6-3zM2 4.5l6 3 6-3M8 7.5v7",
  set: "M1.5 3.5h4.2l1.6 2h7.2v8h-13z",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
  upload: "M8 11V2.5M4.5 6 8 2.5 11.5 6M2 11.5v2.5h12v-2.5",
  download: "M8 2v8.5M4.5 7 8 10.5 11.5 7M2 11.5v2.5h12v-2.5",
  trash: "M2.5 4h11M6 4V2h4v2M4 4l.7 10h6.6L12 4M6.6 7v4.5M9.4 7v4.5",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5 7.5 13a2.8 2.8 0 0 1-4-4L5 7.5",
  share: "M4 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.8 7.1l4.4-2.2M5.8 8.9l4.4 2.2",
  check: "M2.5 8.5l3.5 3.5 7.5-8",
  cross: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  plus: "M8 2.5v11M2.5 8h11",
  edit: "M2.5 13.5l.8-3.2 7.7-7.8 2.5 2.5-7.8 7.7z",
  user: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14.5c.5-3 2.6-4.5 5.5-4.5s5 1.5 5.5 4.5",
  people: "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.4-2.6 2-4 4.5-4s4.1 1.4 4.5 4M10.5 3a2.3 2.3 0 0 1 0 4.5M12 9.8c1.5.5 2.3 1.8 2.5 3.7",
  key: "M10.5 9a3.5 3.5 0 1 0-3.3-2.3L2 12v2h2.5v-1.5H6V11h1.5l1.3-2.3c.5.2 1.1.3 1.7.3zM11.3 5h.1",
  chart: "M2 2v12h12M5 11V8M8 11V4.5M11 11V6.5",
  book: "M8 3.5c-1.6-1-3.6-1.3-6-1v10.5c2.4-.3 4.4 0 6 1 1.6-1 3.6-1.3 6-1V2.5c-2.4-.3-4.4 0-6 1zM8 3.5v10.5",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14.5 14.5",
  server: "M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.8h.1M4.5 11.3h.1",
  clock: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 4v4l2.5 2.5",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  screen: "M1.5 2.5h13v8.5h-13zM5.5 14h5M8 11v3",
  more: "M2.6 8a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0M7.3 8a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0M12 8a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0",
  up: "M3 10.5 8 5.5l5 5",
  down: "M3 5.5l5 5 5-5",
  leave: "M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3",
  menu: "M2 4h12M2 8h12M2 12h12",
  back: "M10 3 5 8l5 5",
  retry: "M13.5 8A5.5 5.5 0 1 1 12 4.2M12.5 1.5v3h-3",
  terminal: "M1.5 2.5h13v11h-13zM4 6l2.5 2L4 10M8 10.5h4",
  table: "M1.5 2.5h13v11h-13zM1.5 6h13M1.5 9.7h13M6 2.5v11",
  folder: "M1.5 3.5h4.2l1.6 2h7.2v8h-13zM1.5 7h13",
  warning: "M8 1.5 15 14H1zM8 6v4M8 12h.1",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
