// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An interpolated image as ONNX Runtime computes it: places and weights in single precision (SetupUpsampleBilinear and
 * GetOriginalCoordinateFromResizedCoordinate in core/providers/cpu/tensor of ONNX Runtime). An image of the same size is copied.
 *
 * @param rows the second to last axis
 * @param columns the last axis
 * @param outside what stands for elements outside the data, where it is cropped
 */
public record BilinearImage(Line rows, Line columns, float outside) {
    /**
     * One axis.
     *
     * @param places of the two elements between which one of the result lies: all first ones, then all second ones
     * @param weights likewise
     * @param inside whether an element of the result lies on the data: 1, or 0
     */
    public record Line(List<Integer> places, List<Float> weights, List<Integer> inside) {
        public Line {
            places = List.copyOf(places);
            weights = List.copyOf(weights);
            inside = List.copyOf(inside);
        }

        public int size() {
            return inside.size();
        }
    }

    /** The image of a node; empty if it interpolates otherwise, or along other axes than the last two of two or four. */
    public static Optional<BilinearImage> of(NodeContext node) {
        Shape shape = node.shape(0);
        if (shape.rank() != 2 && shape.rank() != 4) {
            return Optional.empty();
        }
        ResizePlan plan = ResizePlan.of(node);
        List<ResizePlan.ResizeAxis> all = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            int axis = i;
            all.add(plan.axes().stream()
                    .filter(a -> a.axis() == axis)
                    .findFirst()
                    .orElseGet(() -> new ResizePlan.ResizeAxis(axis, shape.dim(axis), shape.dim(axis), 1, 0, 1)));
        }
        int rows = shape.rank() - 2;
        boolean isOfImages = all.subList(0, rows).stream().allMatch(a -> a.in() == a.out() && a.scale() == 1);
        boolean isSmoothed = all.stream().anyMatch(a -> a.isSmoothed(plan.style()));
        if (isSmoothed
                || !isOfImages
                || !plan.style().mode().equals("linear")
                || plan.style().excludes()) {
            return Optional.empty();
        }
        return Optional.of(new BilinearImage(
                line(all.get(rows), plan.style()), line(all.get(rows + 1), plan.style()), plan.outside()));
    }

    /** Whether the result has the size of the data, which is then the result. */
    public boolean isCopy(Shape data) {
        return rows.size() == data.dim(-2) && columns.size() == data.dim(-1);
    }

    /** Whether elements of the result lie outside the data. */
    public boolean hasOutside() {
        return rows.inside.contains(0) || columns.inside.contains(0);
    }

    private static Line line(ResizePlan.ResizeAxis axis, ResizePlan.ResizeAxis.Style style) {
        List<Integer> second = new ArrayList<>();
        List<Float> secondWeights = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        List<Integer> inside = new ArrayList<>();
        boolean crops = style.coordinates().equals("tf_crop_and_resize");
        for (int i = 0; i < axis.out(); i++) {
            float place = axis.scale() == 1 ? i : axis.singlePosition(i, style.coordinates());
            inside.add(crops && (place < 0 || place > axis.in() - 1) ? 0 : 1);
            float within = Math.max(0, Math.min(place, axis.in() - 1));
            int first = Math.min((int) within, axis.in() - 1);
            int next = Math.min(first + 1, axis.in() - 1);
            places.add(first);
            second.add(next);
            weights.add(first == next ? 0.5f : Math.abs(within - next));
            secondWeights.add(first == next ? 0.5f : Math.abs(within - first));
        }
        places.addAll(second);
        weights.addAll(secondWeights);
        return new Line(places, weights, inside);
    }

    /**
     * What a {@code Resize} or {@code Upsample} does.
     *
     * @param axes all axes, or those that are named
     * @param outside what stands for elements outside the data, where it is cropped
     */
    record ResizePlan(List<ResizeAxis> axes, ResizeAxis.Style style, float outside) {
        static final List<OnnxRegistration> ALL =
                List.of(onnx("Resize", 10, ResizePlan::emit), onnx("Upsample", ResizePlan::emit));

        private static final int SIZES_INPUT = 11;
        private static final int UPSAMPLE_INPUT = 9;

        /** Elements of the result along an axis. */
        private static final int MOST = (1 << 16) - 1;

        ResizePlan {
            axes = List.copyOf(axes);
        }

        static ResizePlan of(NodeContext node) {
            return node.is("Upsample") ? upsample(node) : resize(node);
        }

        private static ResizePlan upsample(NodeContext node) {
            List<Float> scales = node.version() >= UPSAMPLE_INPUT
                    ? node.reals(1, "scales")
                    : node.reals("scales").orElseThrow(() -> node.missing("scales"));
            ResizeAxis.Style style = new ResizeAxis.Style(mode(node), "asymmetric", "floor", -0.75, false, false);
            return new ResizePlan(axes(node, scales, List.of()), style, 0);
        }

        private static ResizePlan resize(NodeContext node) {
            boolean isOld = node.version() < SIZES_INPUT;
            int rank = node.shape(0).rank();
            List<Integer> axes = node.wholes("axes")
                    .map(stated -> stated.stream().map(a -> node.axis(a, rank)).toList())
                    .orElse(IntStream.range(0, rank).boxed().toList());
            ResizeAxis.Style style = new ResizeAxis.Style(
                    mode(node),
                    isOld ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel"),
                    isOld ? "floor" : node.text("nearest_mode", "round_prefer_floor"),
                    node.real("cubic_coeff_a", -0.75f),
                    node.truth("exclude_outside", false),
                    node.truth("antialias", false));
            int at = isOld ? 1 : 2;
            boolean hasScales = node.has(at) && node.shape(at).elements() > 0;
            List<ResizeAxis> changed = hasScales
                    ? axes(node, all(node, axes, node.reals(at, "scales"), 1f), roi(node, axes))
                    : sized(node, axes, roi(node, axes));
            return new ResizePlan(changed, style, node.real("extrapolation_value", 0));
        }

        private static String mode(NodeContext node) {
            String mode = node.text("mode", "nearest");
            return mode.equals("bilinear") ? "linear" : mode;
        }

        /** Values for all axes, of which only some are stated. */
        private static List<Float> all(NodeContext node, List<Integer> axes, List<Float> stated, float otherwise) {
            node.require(stated.size() == axes.size(), "it has " + stated.size() + " scales", "" + axes.size());
            List<Float> values =
                    new ArrayList<>(Collections.nCopies(node.shape(0).rank(), otherwise));
            for (int i = 0; i < axes.size(); i++) {
                values.set(axes.get(i), stated.get(i));
            }
            return values;
        }

        /** Begins, then ends, for all axes; empty if there are none. */
        private static List<Float> roi(NodeContext node, List<Integer> axes) {
            boolean crops = node.text("coordinate_transformation_mode", "").equals("tf_crop_and_resize");
            if (!crops) {
                return List.of();
            }
            List<Float> stated = node.reals(1, "roi");
            node.require(
                    stated.size() == 2 * axes.size(),
                    "its roi has " + stated.size() + " numbers",
                    "" + 2 * axes.size());
            List<Float> roi = new ArrayList<>(all(node, axes, stated.subList(0, axes.size()), 0f));
            roi.addAll(all(node, axes, stated.subList(axes.size(), stated.size()), 1f));
            return roi;
        }

        private static List<ResizeAxis> axes(NodeContext node, List<Float> scales, List<Float> roi) {
            Shape shape = node.shape(0);
            node.require(scales.size() == shape.rank(), "it has " + scales.size() + " scales", "" + shape.rank());
            List<ResizeAxis> axes = new ArrayList<>();
            for (int i = 0; i < shape.rank(); i++) {
                float scale = scales.get(i);
                double extent = roi.isEmpty() ? 1 : roi.get(shape.rank() + i) - roi.get(i);
                node.require(scale > 0, "a scale is " + scale, "a number above 0");
                axes.add(axis(node, i, Math.floor(shape.dim(i) * extent * scale), scale, roi));
            }
            return axes;
        }

        private static List<ResizeAxis> sized(NodeContext node, List<Integer> axes, List<Float> roi) {
            Shape shape = node.shape(0);
            List<Long> sizes = node.integers(3, "sizes");
            node.require(
                    sizes.size() == axes.size() && sizes.stream().allMatch(s -> s > 0),
                    "its sizes are " + sizes,
                    axes.size() + " sizes above 0");
            String policy = node.text("keep_aspect_ratio_policy", "stretch");
            double[] ratios = IntStream.range(0, axes.size())
                    .mapToDouble(i -> (double) sizes.get(i) / shape.dim(axes.get(i)))
                    .toArray();
            double common = policy.equals("not_larger")
                    ? IntStream.range(0, ratios.length)
                            .mapToDouble(i -> ratios[i])
                            .min()
                            .orElse(1)
                    : IntStream.range(0, ratios.length)
                            .mapToDouble(i -> ratios[i])
                            .max()
                            .orElse(1);
            List<ResizeAxis> changed = new ArrayList<>();
            for (int i = 0; i < axes.size(); i++) {
                boolean isStretched = policy.equals("stretch");
                double out = isStretched ? sizes.get(i) : Math.max(1, Math.rint(common * shape.dim(axes.get(i))));
                changed.add(axis(node, axes.get(i), out, isStretched ? ratios[i] : common, roi));
            }
            return changed;
        }

        private static ResizeAxis axis(NodeContext node, int axis, double out, double scale, List<Float> roi) {
            node.require(
                    out >= 1 && out <= MOST,
                    "an axis of the result has " + (long) out + " elements",
                    "1 to " + MOST + " elements");
            Shape shape = node.shape(0);
            double begin = roi.isEmpty() ? 0 : roi.get(axis);
            double end = roi.isEmpty() ? 1 : roi.get(shape.rank() + axis);
            return new ResizeAxis(axis, shape.dim(axis), (int) out, scale, begin, end);
        }

        /**
         * One axis of a resize; formulas are those of ONNX's page of Resize.
         *
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
            record Style(
                    String mode, String coordinates, String rounding, double cubic, boolean excludes, boolean smooths) {
                boolean isNearest() {
                    return mode.equals("nearest");
                }
            }

            /** One element of the data for each of the result. */
            record Tap(List<Integer> indices, List<Double> weights) {}

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
                        out > 1
                                ? begin * (in - 1) + i * (end - begin) * (in - 1) / (out - 1)
                                : 0.5 * (begin + end) * (in - 1);
                    default ->
                        throw new IllegalArgumentException(
                                "its coordinate_transformation_mode is `" + coordinates + "`");
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
                        throw new IllegalArgumentException(
                                "its coordinate_transformation_mode is `" + coordinates + "`");
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
                            default ->
                                throw new IllegalArgumentException("its nearest_mode is `" + style.rounding + "`");
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

        private static void emit(NodeContext node) {
            ResizePlan plan = of(node);
            Arg value = node.arg(0);
            for (ResizeAxis axis : plan.axes()) {
                if (!axis.isIdentity(plan.style())) {
                    value = axis.isSmoothed(plan.style())
                            ? smoothed(node, value, axis, plan.style())
                            : resized(node, value, axis, plan.style(), plan.outside());
                }
            }
            node.finish(value);
        }

        private static Arg smoothed(NodeContext node, Arg data, ResizeAxis axis, ResizeAxis.Style style) {
            node.require(
                    List.of("linear", "cubic").contains(style.mode())
                            && !style.coordinates().equals("tf_crop_and_resize"),
                    "it smooths (antialias) in the mode " + style.mode() + " with the positions " + style.coordinates(),
                    "linear or cubic, without crops");
            node.tableOf(axis.in(), axis.out());
            List<Integer> order = new ArrayList<>(
                    IntStream.range(0, node.shape(data).rank()).boxed().toList());
            Collections.swap(order, axis.axis(), order.size() - 1);
            Arg matrix = node.reals(axis.matrix(style), Shape.of(axis.in(), axis.out()));
            return node.transpose(node.product(node.transpose(data, order), matrix), order);
        }

        private static Arg resized(NodeContext node, Arg data, ResizeAxis axis, ResizeAxis.Style style, float outside) {
            List<ResizeAxis.Tap> taps;
            try {
                taps = axis.taps(style);
            } catch (IllegalArgumentException unknown) {
                throw node.failure(unknown.getMessage(), "a mode of ONNX's Resize");
            }
            List<Integer> line =
                    new ArrayList<>(Collections.nCopies(node.shape(data).rank(), 1));
            line.set(axis.axis(), axis.out());
            Arg sum = null;
            for (ResizeAxis.Tap tap : taps) {
                Arg part = node.take(data, node.ints(tap.indices(), Shape.of(axis.out())), axis.axis());
                Arg weighted =
                        style.isNearest() ? part : node.multiply(part, node.reals(tap.weights(), new Shape(line)));
                sum = sum == null ? weighted : node.add(sum, weighted);
            }
            List<Integer> inside = axis.inside(style);
            if (inside.contains(0)) {
                Arg isInside = node.cast(node.ints(inside, new Shape(line)), DType.BOOL);
                return node.where(isInside, sum, node.number(outside, node.dtype(sum)));
            }
            return sum;
        }
    }
}
