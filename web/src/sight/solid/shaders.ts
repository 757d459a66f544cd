// The shader programs. The projection is parallel: distant parts are not smaller, but paler.
// Spheres and sticks are squares whose pixels compute the intersection with the surface, so they
// are round at any size.

const common = `#version 300 es
precision highp float;
uniform mat3 rotation;
uniform vec3 middle; // of the view, in the coordinates of points
uniform float unit; // 1 / the radius of the scene
uniform vec2 scale;
uniform vec2 shift;
vec3 seen(vec3 place) { return rotation * ((place - middle) * unit); }
vec4 onScreen(vec3 v) { return vec4(v.xy * scale + shift, -0.9 * v.z, 1.0); }
`;

const shading = `#version 300 es
precision highp float;
out vec4 pixel;
const vec3 light = normalize(vec3(-0.45, 0.6, 0.8));
void paint(vec3 colour, vec3 normal, float depth) {
  float lit = max(dot(normal, light), 0.0);
  float gloss = pow(max(dot(reflect(-light, normal), vec3(0.0, 0.0, 1.0)), 0.0), 24.0);
  float far = clamp(0.5 - 0.5 * depth, 0.0, 1.0);
  float opacity = 1.0 - 0.55 * far * far;
  pixel = vec4((colour * (0.36 + 0.64 * lit) + 0.14 * gloss) * opacity, opacity);
}
`;

export interface Source {
  vertex: string;
  fragment: string;
}

export const spheres: Source = {
  vertex: `${common}
in vec4 place; // and the radius
in vec3 colour;
out vec2 corner;
out vec3 hue;
flat out vec2 depthAndRadius;
void main() {
  corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vec3 v = seen(place.xyz);
  float radius = place.w * unit;
  depthAndRadius = vec2(v.z, radius);
  hue = colour;
  // fragments set the depth, so that nothing is clipped
  gl_Position = onScreen(vec3(v.xy + corner * radius, 0.0));
}`,
  fragment: `${shading}
in vec2 corner;
in vec3 hue;
flat in vec2 depthAndRadius;
void main() {
  float inside = 1.0 - dot(corner, corner);
  if (inside < 0.0) discard;
  vec3 normal = vec3(corner, sqrt(inside));
  float depth = depthAndRadius.x + depthAndRadius.y * normal.z;
  gl_FragDepth = clamp(0.5 - 0.45 * depth, 0.0, 1.0);
  paint(hue, normal, depth);
}`,
};

export const sticks: Source = {
  vertex: `${common}
in vec4 place; // of one end, and the radius
in vec3 other; // end
in vec3 colour;
out float across;
out float depth;
out vec3 hue;
flat out vec3 side;
flat out vec3 axis;
flat out float lift;
void main() {
  vec3 from = seen(place.xyz);
  vec3 to = seen(other);
  float radius = place.w * unit;
  axis = (to - from) / max(length(to - from), 1e-6);
  float slant = length(axis.xy);
  side = slant > 1e-4 ? vec3(-axis.y, axis.x, 0.0) / slant : vec3(1.0, 0.0, 0.0);
  lift = radius / max(slant, 0.15);
  across = float(gl_VertexID & 1) * 2.0 - 1.0;
  vec3 v = mix(from, to, float(gl_VertexID >> 1)) + side * across * radius;
  depth = v.z;
  hue = colour;
  gl_Position = onScreen(vec3(v.xy, 0.0));
}`,
  fragment: `${shading}
in float across;
in float depth;
in vec3 hue;
flat in vec3 side;
flat in vec3 axis;
flat in float lift;
void main() {
  float height = sqrt(max(0.0, 1.0 - across * across));
  vec3 up = cross(side, axis);
  up = up.z < 0.0 ? -up : up;
  float at = depth + height * lift;
  gl_FragDepth = clamp(0.5 - 0.45 * at, 0.0, 1.0);
  paint(hue, normalize(side * across + up * height), at);
}`,
};

const flatVertex = `${common}
in vec3 place;
in vec3 colour;
uniform float pointSize;
out vec3 at;
out vec3 hue;
void main() {
  at = seen(place);
  hue = colour;
  gl_PointSize = pointSize;
  gl_Position = onScreen(at);
}`;

/** Each triangle is flat: it has the normal of its plane. */
export const triangles: Source = {
  vertex: flatVertex,
  fragment: `${shading}
in vec3 at;
in vec3 hue;
void main() {
  vec3 normal = cross(dFdx(at), dFdy(at));
  float size = length(normal);
  normal = size > 0.0 ? normal / size : vec3(0.0, 0.0, 1.0);
  paint(hue, normal.z < 0.0 ? -normal : normal, at.z);
}`,
};

/** Lines and points, without lighting. */
export const strokes: Source = {
  vertex: flatVertex,
  fragment: `${shading}
in vec3 at;
in vec3 hue;
void main() {
  float far = clamp(0.5 - 0.5 * at.z, 0.0, 1.0);
  float opacity = 1.0 - 0.55 * far * far;
  pixel = vec4(hue * opacity, opacity);
}`,
};
