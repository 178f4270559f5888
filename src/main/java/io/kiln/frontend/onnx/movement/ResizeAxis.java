// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import java.util.ArrayList;
import java.util.List;

/**
 * One axis of a resize; formulas are those of ONNX's page of Resize.
 *
 * @param axis the axis
 * @param in its size before
 * @param out its size after
 * @param scale size after by size before, as stated
 * @param begin begin of the part that is resized, as a fraction of the axis
 * @param end its end
 */
record ResizeAxis(int axis, int in, int out, double scale, double begin, double end) {
    private static final int CUBIC_TAPS = 4;

    /**
     * How elements are computed.
     *
     * @param mode nearest, linear or cubic
     * @param coordinates how indices of the result become positions in the data
     * @param rounding how the nearest element is chosen
     * @param cubic coefficient of cubic interpolation
     * @param excludes whether elements outside the data get no weight
     * @param smooths whether an axis that becomes smaller is smoothed: each element is the mean of all that it stands for
     */
    record Style(String mode, String coordinates, String rounding, double cubic, boolean excludes, boolean smooths) {
        boolean isNearest() {
            return mode.equals("nearest");
        }
    }

    /**
     * One element of the data for each of the result.
     *
     * @param indices its indices
     * @param weights its weights
     */
    record Tap(List<Integer> indices, List<Double> weights) {
        float[] floats() {
            float[] floats = new float[weights.size()];
            for (int i = 0; i < floats.length; i++) {
                floats[i] = weights.get(i).floatValue();
            }
            return floats;
        }
    }

    /** Whether the result is the data; where it is smoothed, ONNX Runtime copies every axis that keeps its size. */
    boolean isIdentity(Style style) {
        return in == out && (scale == 1 || style.smooths) && !style.coordinates.equals("tf_crop_and_resize");
    }

    /** Whether each element of the result lies on the data: 1, or 0. */
    List<Integer> inside(Style style) {
        List<Integer> inside = new ArrayList<>();
        for (int i = 0; i < out; i++) {
            double x = position(i, style.coordinates);
            boolean crops = style.coordinates.equals("tf_crop_and_resize");
            inside.add(crops && (x < 0 || x > in - 1) ? 0 : 1);
        }
        return inside;
    }

    /** The elements of which the result is the weighted sum. */
    List<Tap> taps(Style style) {
        int count = switch (style.mode) {
            case "nearest" -> 1;
            case "linear" -> 2;
            case "cubic" -> CUBIC_TAPS;
            default -> throw new IllegalArgumentException("its mode is `" + style.mode + "`");
        };
        List<Tap> taps = new ArrayList<>();
        for (int t = 0; t < count; t++) {
            taps.add(new Tap(new ArrayList<>(), new ArrayList<>()));
        }
        for (int i = 0; i < out; i++) {
            double x = position(i, style.coordinates);
            int first = first(x, style);
            double[] weights = weights(x - Math.floor(x), style);
            double sum = 0;
            for (int t = 0; t < count; t++) {
                boolean isOutside = first + t < 0 || first + t >= in;
                weights[t] = style.excludes && isOutside ? 0 : weights[t];
                sum += weights[t];
            }
            for (int t = 0; t < count; t++) {
                taps.get(t).indices.add(Math.max(0, Math.min(first + t, in - 1)));
                taps.get(t).weights.add(style.excludes ? weights[t] / sum : weights[t]);
            }
        }
        return taps;
    }

    /** Whether the result is a product with {@link #matrix}. */
    boolean isSmoothed(Style style) {
        return style.smooths && !style.isNearest() && scale < 1;
    }

    /**
     * The weights of all elements of the data, for each of the result: those of interpolation, stretched by the scale. Elements outside the
     * data are those of its border, or have no weight. As ONNX Runtime, where the standard leaves it open.
     */
    float[] matrix(Style style) {
        double reach = (style.mode.equals("cubic") ? 2 : 1) / scale;
        float[] matrix = new float[Math.multiplyExact(in, out)];
        for (int i = 0; i < out; i++) {
            double x = position(i, style.coordinates);
            int first = (int) Math.floor(x - reach) + 1;
            int last = (int) Math.ceil(x + reach) - 1;
            double[] weights = new double[in];
            double sum = 0;
            for (int k = first; k <= last; k++) {
                boolean isOutside = k < 0 || k >= in;
                double weight = style.excludes && isOutside ? 0 : weight(Math.abs(x - k) * scale, style);
                weights[Math.max(0, Math.min(k, in - 1))] += weight;
                sum += weight;
            }
            for (int k = 0; k < in; k++) {
                matrix[k * out + i] = (float) (weights[k] / sum);
            }
        }
        return matrix;
    }

    /** The weight of an element at a distance, of linear or cubic interpolation. */
    private static double weight(double distance, Style style) {
        if (style.mode.equals("linear")) {
            return Math.max(0, 1 - distance);
        }
        double[] taps = weights(distance - Math.floor(distance), style);
        return distance < 1 ? taps[1] : distance < 2 ? taps[0] : 0;
    }

    /** The size after, before it is rounded. */
    private double length() {
        return scale * in;
    }

    private double position(int i, String coordinates) {
        return switch (coordinates) {
            case "half_pixel" -> (i + 0.5) / scale - 0.5;
            case "pytorch_half_pixel" -> out > 1 ? (i + 0.5) / scale - 0.5 : 0;
            case "half_pixel_symmetric" -> {
                double adjustment = out / (scale * in);
                double center = in / 2.0;
                yield center * (1 - adjustment) + (i + 0.5) / scale - 0.5;
            }
            case "align_corners" -> length() == 1 ? 0 : i * (in - 1) / (length() - 1);
            case "asymmetric" -> i / scale;
            case "tf_half_pixel_for_nn" -> (i + 0.5) / scale;
            case "tf_crop_and_resize" ->
                out > 1 ? begin * (in - 1) + i * (end - begin) * (in - 1) / (out - 1) : 0.5 * (begin + end) * (in - 1);
            default ->
                throw new IllegalArgumentException("its coordinate_transformation_mode is `" + coordinates + "`");
        };
    }

    /** The position of an element of the result as ONNX Runtime computes it: in single precision, or with steps in double precision. */
    float singlePosition(int i, String coordinates) {
        float by = (float) scale;
        float from = (float) begin;
        float to = (float) end;
        return switch (coordinates) {
            case "half_pixel" -> (i + 0.5f) / by - 0.5f;
            case "pytorch_half_pixel" -> out > 1 ? (i + 0.5f) / by - 0.5f : 0;
            case "half_pixel_symmetric" -> {
                float adjustment = out / (by * in);
                float offset = in / 2f * (1 - adjustment);
                yield (float) (offset + (i + 0.5) / by - 0.5);
            }
            case "align_corners" -> out == 1 ? 0 : (float) i * (in - 1) / (out - 1);
            case "asymmetric" -> i / by;
            case "tf_half_pixel_for_nn" -> (i + 0.5f) / by;
            case "tf_crop_and_resize" ->
                out > 1
                        ? from * (in - 1) + i * (to - from) * (in - 1) / (out - 1)
                        : (float) (0.5 * (from + to) * (in - 1));
            default ->
                throw new IllegalArgumentException("its coordinate_transformation_mode is `" + coordinates + "`");
        };
    }

    private static int first(double x, Style style) {
        if (!style.isNearest()) {
            return (int) Math.floor(x) - (style.mode.equals("cubic") ? 1 : 0);
        }
        return (int)
                switch (style.rounding) {
                    case "floor" -> Math.floor(x);
                    case "ceil" -> Math.ceil(x);
                    case "round_prefer_floor" -> Math.ceil(x - 0.5);
                    case "round_prefer_ceil" -> Math.floor(x + 0.5);
                    default -> throw new IllegalArgumentException("its nearest_mode is `" + style.rounding + "`");
                };
    }

    private static double[] weights(double t, Style style) {
        double a = style.cubic;
        return switch (style.mode) {
            case "nearest" -> new double[] {1};
            case "linear" -> new double[] {1 - t, t};
            default ->
                new double[] {
                    ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
                    ((a + 2) * t - (a + 3)) * t * t + 1,
                    ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
                    ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a
                };
        };
    }
}
