/** The bundler puts the text of a document in its place. */
declare module "*.md" {
  const text: string;
  export default text;
}
