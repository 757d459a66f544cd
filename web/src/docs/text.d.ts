/** The bundler replaces the import by the content of the file. */
declare module "*.md" {
  const text: string;
  export default text;
}
