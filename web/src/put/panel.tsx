export function Uploads() {
  return null;
}
