// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a {@code Resize} or {@code Upsample} does.
 *
 * @param axes all axes, or those that are named
 * @param style how elements are computed
 * @param outside what stands for elements outside the data, where it is cropped
 */
record ResizePlan(List<ResizeAxis> axes, ResizeAxis.Style style, float outside) {
    private static final int SIZES_INPUT = 11;
    private static final int UPSAMPLE_INPUT = 9;

    /** Elements of the result along an axis. */
    private static final int MOST = (1 << 16) - 1;

    ResizePlan {
        axes = List.copyOf(axes);
    }

    /** Reads the plan of a node. */
    static ResizePlan of(NodeContext node) {
        return node.node().operator().equals("Upsample") ? upsample(node) : resize(node);
    }

    private static ResizePlan upsample(NodeContext node) {
        List<Float> scales = node.version() >= UPSAMPLE_INPUT
                ? node.reals(1, "scales")
                : node.attributes()
                        .reals("scales")
                        .orElseThrow(() -> node.attributes().missing("scales"));
        ResizeAxis.Style style = new ResizeAxis.Style(mode(node), "asymmetric", "floor", -0.75, false, false);
        return new ResizePlan(axes(node, scales, List.of()), style, 0);
    }

    private static ResizePlan resize(NodeContext node) {
        boolean isOld = node.version() < SIZES_INPUT;
        int rank = node.shape(0).rank();
        List<Integer> axes = node.attributes()
                .wholes("axes")
                .map(stated -> stated.stream().map(a -> node.axis(a, rank)).toList())
                .orElse(IntStream.range(0, rank).boxed().toList());
        ResizeAxis.Style style = new ResizeAxis.Style(
                mode(node),
                isOld ? "asymmetric" : node.attributes().text("coordinate_transformation_mode", "half_pixel"),
                isOld ? "floor" : node.attributes().text("nearest_mode", "round_prefer_floor"),
                node.attributes().real("cubic_coeff_a", -0.75f),
                node.attributes().truth("exclude_outside", false),
                node.attributes().truth("antialias", false));
        int at = isOld ? 1 : 2;
        boolean hasScales = node.has(at) && node.shape(at).elements() > 0;
        List<ResizeAxis> changed = hasScales
                ? axes(node, all(node, axes, node.reals(at, "scales"), 1f), roi(node, axes))
                : sized(node, axes, roi(node, axes));
        return new ResizePlan(changed, style, node.attributes().real("extrapolation_value", 0));
    }

    private static String mode(NodeContext node) {
        String mode = node.attributes().text("mode", "nearest");
        return mode.equals("bilinear") ? "linear" : mode;
    }

    /** Values for all axes, of which only some are stated. */
    private static List<Float> all(NodeContext node, List<Integer> axes, List<Float> stated, float otherwise) {
        node.require(stated.size() == axes.size(), "it has " + stated.size() + " scales", "" + axes.size());
        List<Float> values = new ArrayList<>(Collections.nCopies(node.shape(0).rank(), otherwise));
        for (int i = 0; i < axes.size(); i++) {
            values.set(axes.get(i), stated.get(i));
        }
        return values;
    }

    /** Begins, then ends, for all axes; empty if there are none. */
    private static List<Float> roi(NodeContext node, List<Integer> axes) {
        boolean crops =
                node.attributes().text("coordinate_transformation_mode", "").equals("tf_crop_and_resize");
        if (!crops) {
            return List.of();
        }
        List<Float> stated = node.reals(1, "roi");
        node.require(
                stated.size() == 2 * axes.size(), "its roi has " + stated.size() + " numbers", "" + 2 * axes.size());
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
        String policy = node.attributes().text("keep_aspect_ratio_policy", "stretch");
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
}
