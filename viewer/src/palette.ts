// Okabe and Ito's colours, which people tell apart whatever their colour vision; modes also differ in brightness.
export const MODE_COLOURS = ["#9aa3ad", "#009e73", "#e69f00", "#d55e00"]; // open, stick, limit, slide
// Certificates, by grade: none, refuted, borderline, unknown, nothing in force, proven in part, proven. Brighter is better.
export const TRUST_COLOURS = {
  light: ["", "#7b2d8b", "#e6d800", "#8f99a3", "#dde3e8", "#a9d8f3", "#56b4e9"],
  dark: ["", "#d58be6", "#f0e442", "#6d7884", "#2b343d", "#33688c", "#56b4e9"],
};
export const GHOST_COLOUR = { light: "#7b2d8b", dark: "#d58be6" };
export const NORMAL_COLOUR = "#0072b2";
export const TOTAL_COLOUR = "#cc79a7";
const SERIES_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
// On a dark page blue is the lighter one.
export function seriesColours(theme: Theme): string[] {
  return theme.dark ? ["#56b4e9", ...SERIES_COLOURS.slice(1)] : SERIES_COLOURS;
}
export const RUN_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

// Pressure, from none to the most: lighter to darker, so that it is read without colours too.
export const PRESSURE_COLOURS = ["#fbf1d0", "#e69f00", "#7a2600"];

// Bodies: calm tints, so that the contacts are what stands out.
export const BODY_COLOURS = ["#7fa8c9", "#c9a77f", "#94b894", "#b79ac0", "#c4b26a", "#86b5b5"];
export const AXIS_COLOUR = "#4a5866"; // of joints
export const FIXED_COLOUR = "#a9b0b8";

export interface Theme {
  dark: boolean;
  background: string;
  text: string;
  faint: string;
  line: string;
  edge: string;
  grid: string;
  ground: string;
}

const LIGHT: Theme = {
  dark: false, background: "#f4f6f8", text: "#1d2733", faint: "#5c6875", line: "#d5dbe1", edge: "#3c4957",
  grid: "#aab4be", ground: "#b9c1c9",
};
const DARK: Theme = {
  dark: true, background: "#12161b", text: "#e6ebf0", faint: "#9aa6b2", line: "#303a45", edge: "#0b0e12",
  grid: "#46525f", ground: "#3a444f",
};

export function themeOf(dark: boolean): Theme {
  return dark ? DARK : LIGHT;
}
