// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.frontend.onnx.movement.ResizePlan.ResizeAxis;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

        /** Number of elements of the result. */
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
        List<ResizeAxis> all = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            int axis = i;
            all.add(plan.axes().stream()
                    .filter(a -> a.axis() == axis)
                    .findFirst()
                    .orElseGet(() -> new ResizeAxis(axis, shape.dim(axis), shape.dim(axis), 1, 0, 1)));
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

    private static Line line(ResizeAxis axis, ResizeAxis.Style style) {
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
}
