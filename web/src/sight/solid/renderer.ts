// Draws a scene with WebGL 2 on request. Buffers stay on the graphics processor until the next
// scene.
import type { Round, Scene, Shape } from "./scene";
import * as shaders from "./shaders";
import type { View } from "./orientation";

interface Program {
  program: WebGLProgram;
  uniforms: Map<string, WebGLUniformLocation>;
}

/** The data of one draw call. */
interface Drawn {
  program: Program;
  array: WebGLVertexArrayObject;
  draw: () => void;
}

type Kind = keyof typeof shaders;

/** The locations of the inputs of the programs. */
const places = ["place", "colour", "other"];

export class Renderer {
  private readonly gl: WebGL2RenderingContext;
  private readonly programs = new Map<Kind, Program>();
  private drawn: Drawn[] = [];
  private buffers: WebGLBuffer[] = [];
  private scene: Scene | undefined;

  /** Throws if the browser has no WebGL 2. */
  constructor(private readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: true, premultipliedAlpha: true });
    if (!gl) throw new Error("This browser has no WebGL 2.");
    this.gl = gl;
  }

  private program(kind: Kind): Program {
    const known = this.programs.get(kind);
    if (known) return known;
    const { gl } = this;
    const program = gl.createProgram();
    const { vertex, fragment } = shaders[kind];
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader) ?? kind);
    }
    places.forEach((name, at) => gl.bindAttribLocation(program, at, name));
    gl.linkProgram(program);
    const uniforms = new Map<string, WebGLUniformLocation>();
    for (const name of ["rotation", "middle", "unit", "scale", "shift", "pointSize"]) {
      const found = gl.getUniformLocation(program, name);
      if (found) uniforms.set(name, found);
    }
    const made = { program, uniforms };
    this.programs.set(kind, made);
    return made;
  }

  private buffer(target: number, data: ArrayBufferView): void {
    const buffer = this.gl.createBuffer();
    this.buffers.push(buffer);
    this.gl.bindBuffer(target, buffer);
    this.gl.bufferData(target, data as ArrayBufferView<ArrayBuffer>, this.gl.STATIC_DRAW);
  }

  private values(at: number, size: number, data: ArrayBufferView, each: number): void {
    const { gl } = this;
    this.buffer(gl.ARRAY_BUFFER, data);
    gl.enableVertexAttribArray(at);
    const isColour = data instanceof Uint8Array;
    gl.vertexAttribPointer(at, size, isColour ? gl.UNSIGNED_BYTE : gl.FLOAT, isColour, 0, 0);
    gl.vertexAttribDivisor(at, each);
  }

  private add(kind: Kind, fill: () => void, draw: () => void): void {
    const array = this.gl.createVertexArray();
    this.gl.bindVertexArray(array);
    fill();
    this.drawn.push({ program: this.program(kind), array, draw });
  }

  private addRound(kind: "spheres" | "sticks", { places, others, colours }: Round): void {
    const count = places.length / 4;
    if (!count) return;
    const fill = () => {
      this.values(0, 4, places, 1);
      this.values(1, 3, colours, 1);
      if (others) this.values(2, 3, others, 1);
    };
    this.add(kind, fill, () => this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, 4, count));
  }

  private addShape({ mode, points, colours, corners }: Shape): void {
    const { gl } = this;
    const how = { triangles: gl.TRIANGLES, lines: gl.LINES, points: gl.POINTS }[mode];
    const fill = () => {
      this.values(0, 3, points, 0);
      if (colours.length > 3) this.values(1, 3, colours, 0);
      if (corners) this.buffer(gl.ELEMENT_ARRAY_BUFFER, corners);
    };
    this.add(mode === "triangles" ? "triangles" : "strokes", fill, () => {
      if (colours.length === 3) gl.vertexAttrib3f(1, ...(Array.from(colours, (c) => c / 255) as [number, number, number]));
      if (corners) gl.drawElements(how, corners.length, gl.UNSIGNED_INT, 0);
      else gl.drawArrays(how, 0, points.length / 3);
    });
  }

  show(scene: Scene): void {
    this.clear();
    this.scene = scene;
    this.addRound("spheres", scene.spheres);
    this.addRound("sticks", scene.sticks);
    for (const shape of scene.shapes) this.addShape(shape);
    this.gl.bindVertexArray(null);
  }

  private clear(): void {
    for (const { array } of this.drawn) this.gl.deleteVertexArray(array);
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
    this.drawn = [];
    this.buffers = [];
  }

  draw({ rotation, zoom, shift }: View, pointSize: number): void {
    const { gl, canvas, scene } = this;
    if (!scene) return;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    const shorter = Math.min(canvas.width, canvas.height);
    const scale = [canvas.width, canvas.height].map((side) => (0.95 * zoom * shorter) / side) as [number, number];
    for (const { program, array, draw } of this.drawn) {
      const at = (name: string) => program.uniforms.get(name) ?? null;
      gl.useProgram(program.program);
      gl.bindVertexArray(array);
      gl.uniformMatrix3fv(at("rotation"), false, rotation);
      gl.uniform3fv(at("middle"), scene.middle);
      gl.uniform1f(at("unit"), 1 / scene.radius);
      gl.uniform2f(at("scale"), ...scale);
      gl.uniform2f(at("shift"), (shift[0] * scale[0]) / zoom, (shift[1] * scale[1]) / zoom);
      gl.uniform1f(at("pointSize"), pointSize);
      draw();
    }
    gl.bindVertexArray(null);
  }

  /** Releases the WebGL context; browsers limit their number. */
  close(): void {
    this.clear();
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
