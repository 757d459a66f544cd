// The first steps, shown on an empty start page.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../ui/icons";
import { Link } from "../router";

interface Way {
  icon: IconName;
  title: string;
  text: ComponentChildren;
  action: ComponentChildren;
}

export function Begin({ create }: { create: ComponentChildren }) {
  const ways: Way[] = [
    { icon: "dataspace", title: "Create a dataspace", text: "A place for the files of your group or project, with its own members.", action: create },
    { icon: "folder", title: "Mount it as a drive", text: "Open and save files in Explorer, Finder or Files.", action: <Link to="/docs#mount-it">How to mount it</Link> },
    { icon: "terminal", title: "Send files by command", text: "One command uploads a folder and resumes after a lost connection.", action: <Link to="/docs">Read the guide</Link> },
  ];
  return (
    <ul class="ways">
      {ways.map(({ icon, title, text, action }) => (
        <li key={title}>
          <Icon name={icon} />
          <h2>{title}</h2>
          <p class="dim">{text}</p>
          <div>{action}</div>
        </li>
      ))}
    </ul>
  );
}
