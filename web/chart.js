// chart.js -- a small chart of bars, as SVG. Each bar has its number and its name beside it: nobody needs the colours.
//
// SPDX-License-Identifier: MIT

const SVG = "http://www.w3.org/2000/svg";
const ROW = 30, NAME = 128, WIDTH = 320, NUMBER = 40, BAR = 14;

function shape(tag, attributes, text = null) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
        node.setAttribute(name, value);
    if (text !== null)
        node.textContent = text;
    return node;
}

// bars: [[name, number]…].
export function chart(title, bars) {
    const most = Math.max(1, ...bars.map(([, n]) => n));
    const height = bars.length * ROW;
    const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", class: "chart",
        "aria-label": `${title}: ${bars.map(([name, n]) => `${name} ${n}`).join(", ")}` });
    for (const [i, [name, n]] of bars.entries()) {
        const middle = i * ROW + ROW / 2, room = WIDTH - NAME - NUMBER, length = Math.max(2, room * n / most);
        svg.append(shape("text", { x: 0, y: middle, class: "name" }, name),
            shape("rect", { x: NAME, y: middle - BAR / 2, width: room, height: BAR, rx: 4, class: "track" }),
            shape("rect", { x: NAME, y: middle - BAR / 2, width: length, height: BAR, rx: 4,
                class: n > 0 ? "bar" : "none" }),
            shape("text", { x: WIDTH, y: middle, class: "number" }, n.toLocaleString()));
    }
    return svg;
}
