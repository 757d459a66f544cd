// Splits source code into coloured parts. The text itself stays in the page.
import type { Emitter } from "@highlightjs/cdn-assets/es/core.min.js";
import hljs from "@highlightjs/cdn-assets/es/core.min.js";
import awk from "@highlightjs/cdn-assets/es/languages/awk.min.js";
import bash from "@highlightjs/cdn-assets/es/languages/bash.min.js";
import c from "@highlightjs/cdn-assets/es/languages/c.min.js";
import cmake from "@highlightjs/cdn-assets/es/languages/cmake.min.js";
import cpp from "@highlightjs/cdn-assets/es/languages/cpp.min.js";
import csharp from "@highlightjs/cdn-assets/es/languages/csharp.min.js";
import css from "@highlightjs/cdn-assets/es/languages/css.min.js";
import diff from "@highlightjs/cdn-assets/es/languages/diff.min.js";
import dockerfile from "@highlightjs/cdn-assets/es/languages/dockerfile.min.js";
import fortran from "@highlightjs/cdn-assets/es/languages/fortran.min.js";
import go from "@highlightjs/cdn-assets/es/languages/go.min.js";
import groovy from "@highlightjs/cdn-assets/es/languages/groovy.min.js";
import haskell from "@highlightjs/cdn-assets/es/languages/haskell.min.js";
import ini from "@highlightjs/cdn-assets/es/languages/ini.min.js";
import java from "@highlightjs/cdn-assets/es/languages/java.min.js";
import javascript from "@highlightjs/cdn-assets/es/languages/javascript.min.js";
import json from "@highlightjs/cdn-assets/es/languages/json.min.js";
import julia from "@highlightjs/cdn-assets/es/languages/julia.min.js";
import kotlin from "@highlightjs/cdn-assets/es/languages/kotlin.min.js";
import latex from "@highlightjs/cdn-assets/es/languages/latex.min.js";
import lua from "@highlightjs/cdn-assets/es/languages/lua.min.js";
import makefile from "@highlightjs/cdn-assets/es/languages/makefile.min.js";
import markdown from "@highlightjs/cdn-assets/es/languages/markdown.min.js";
import matlab from "@highlightjs/cdn-assets/es/languages/matlab.min.js";
import perl from "@highlightjs/cdn-assets/es/languages/perl.min.js";
import php from "@highlightjs/cdn-assets/es/languages/php.min.js";
import powershell from "@highlightjs/cdn-assets/es/languages/powershell.min.js";
import protobuf from "@highlightjs/cdn-assets/es/languages/protobuf.min.js";
import python from "@highlightjs/cdn-assets/es/languages/python.min.js";
import r from "@highlightjs/cdn-assets/es/languages/r.min.js";
import ruby from "@highlightjs/cdn-assets/es/languages/ruby.min.js";
import rust from "@highlightjs/cdn-assets/es/languages/rust.min.js";
import scala from "@highlightjs/cdn-assets/es/languages/scala.min.js";
import sql from "@highlightjs/cdn-assets/es/languages/sql.min.js";
import stan from "@highlightjs/cdn-assets/es/languages/stan.min.js";
import stata from "@highlightjs/cdn-assets/es/languages/stata.min.js";
import tcl from "@highlightjs/cdn-assets/es/languages/tcl.min.js";
import typescript from "@highlightjs/cdn-assets/es/languages/typescript.min.js";
import verilog from "@highlightjs/cdn-assets/es/languages/verilog.min.js";
import vhdl from "@highlightjs/cdn-assets/es/languages/vhdl.min.js";
import xml from "@highlightjs/cdn-assets/es/languages/xml.min.js";
import yaml from "@highlightjs/cdn-assets/es/languages/yaml.min.js";
import { classOf } from "../sight/scopes";
import { answerCalls, Refused } from "./lib/serve";

const languages = {
  awk, bash, c, cmake, cpp, csharp, css, diff, dockerfile, fortran, go, groovy,
  haskell, ini, java, javascript, json, julia, kotlin, latex, lua, makefile, markdown, matlab,
  perl, php, powershell, protobuf, python, r, ruby, rust, scala, sql, stan, stata,
  tcl, typescript, verilog, vhdl, xml, yaml,
};

/** The maximum number of characters per call. */
const maxText = 1_100_000;

/** Collects runs of characters of one class instead of the markup of the library. */
class Runs implements Emitter {
  /** The end of each run, and its class. */
  readonly runs: number[] = [];
  length = 0;
  private readonly open = [0];

  addText(text: string) {
    this.add(this.length + text.length, this.open.at(-1)!);
  }
  openNode(scope: string) {
    this.open.push(classOf(scope) ?? this.open.at(-1)!);
  }
  closeNode() {
    if (this.open.length > 1) this.open.pop();
  }
  startScope(scope: string) {
    this.openNode(scope);
  }
  endScope() {
    this.closeNode();
  }
  __addSublanguage(inner: Emitter) {
    const { runs } = inner as Runs;
    const from = this.length;
    for (let i = 0; i < runs.length; i += 2) this.add(from + runs[i]!, runs[i + 1]! || this.open.at(-1)!);
  }
  finalize() {}
  toHTML() {
    return "";
  }

  private add(end: number, kind: number) {
    if (end === this.length) return;
    const last = this.runs.length - 1;
    if (last > 0 && this.runs[last] === kind) this.runs[last - 1] = end;
    else this.runs.push(end, kind);
    this.length = end;
  }
}

hljs.configure({ __emitter: Runs });
for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar);

answerCalls({
  highlight: async ({ language, text }) => {
    if (!hljs.getLanguage(language)) throw new Refused("This language is not supported.");
    if (text.length > maxText) throw new Refused("It is too long.");
    const { _emitter, errorRaised } = hljs.highlight(text, { language, ignoreIllegals: true });
    const found = _emitter as Runs;
    if (errorRaised || found.length !== text.length) throw new Refused("It could not be parsed.");
    return Uint32Array.from(found.runs);
  },
});
