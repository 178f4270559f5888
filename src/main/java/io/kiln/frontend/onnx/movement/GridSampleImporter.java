// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code GridSample} of images: each element of the result lies at a place of the image that the grid gives, from -1 to 1. It is the sum of
 * the pixels around that place times weights, which are products of one for each dimension.
 */
final class GridSampleImporter implements OnnxImporter {
    private static final int RANK = 4;
    private static final List<Integer> CHANNELS_LAST = List.of(0, 2, 3, 1);
    private static final List<Integer> CHANNELS_FIRST = List.of(0, 3, 1, 2);

    /** The factor of the cubic polynomial (Keys, 1981), as in ONNX. */
    private static final double CUBIC = -0.75;

    /**
     * A pixel's place in one dimension.
     *
     * @param index int32, inside the image
     * @param weight its factor; 0 outside the image if that counts as 0
     */
    private record Tap(Arg index, Arg weight) {}

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        Shape grid = node.shape(1);
        node.require(
                shape.rank() == RANK && grid.rank() == RANK && grid.dim(3) == 2,
                "its data is " + shape.text() + " and its grid " + grid.text(),
                "images, and a grid of pairs");
        int batch = shape.dim(0);
        int places = grid.dim(1) * grid.dim(2);
        Arg pairs = e.reshape(e.cast(node.arg(1), DType.FLOAT32), List.of(batch, places, 2));
        List<Tap> columns = taps(node, e, e.slice(pairs, 2, 0, 1), shape.dim(3));
        List<Tap> rows = taps(node, e, e.slice(pairs, 2, 1, 2), shape.dim(2));
        Arg pixels = e.reshape(
                e.transpose(node.arg(0), CHANNELS_LAST), List.of(batch, shape.dim(2) * shape.dim(3), shape.dim(1)));
        List<Arg> terms = new ArrayList<>();
        for (Tap row : rows) {
            for (Tap column : columns) {
                Arg place = e.add(e.multiply(row.index(), shape.dim(3)), column.index());
                Arg pixel = node.emit(new Take(1, 1), pixels, e.reshape(place, List.of(batch, places)));
                terms.add(e.multiply(pixel, e.multiply(row.weight(), column.weight())));
            }
        }
        Arg sum = terms.stream().reduce(e::add).orElseThrow();
        Arg image = e.reshape(sum, List.of(batch, grid.dim(1), grid.dim(2), shape.dim(1)));
        node.finish(e.transpose(image, CHANNELS_FIRST));
    }

    private static List<Tap> taps(NodeContext node, Expressions e, Arg grid, int size) {
        boolean isAligned = node.attributes().truth("align_corners", false);
        Arg from0 = e.add(grid, 1);
        Arg x = isAligned ? e.multiply(from0, (size - 1) / 2.0) : e.multiply(e.add(e.multiply(from0, size), -1), 0.5);
        String padding = node.attributes().text("padding_mode", "zeros");
        String mode = node.attributes().text("mode", "bilinear");
        Edge edge = new Edge(node, e, padding, size, isAligned);
        return switch (mode) {
            case "nearest" -> List.of(edge.tap(e.unary(Unary.Kind.ROUND, edge.inside(x)), Edge.one(e)));
            case "bilinear", "linear" -> linear(e, edge, edge.inside(x));
            case "bicubic", "cubic" -> cubic(e, edge, edge.inside(x));
            default -> throw node.failure("its mode is `" + mode + "`", "nearest, linear or cubic");
        };
    }

    private static List<Tap> linear(Expressions e, Edge edge, Arg x) {
        Arg floor = e.unary(Unary.Kind.FLOOR, x);
        Arg rest = e.subtract(x, floor);
        return List.of(edge.tap(floor, e.subtract(Edge.one(e), rest)), edge.tap(e.add(floor, 1), rest));
    }

    private static List<Tap> cubic(Expressions e, Edge edge, Arg x) {
        Arg floor = e.unary(Unary.Kind.FLOOR, x);
        Arg rest = e.subtract(x, floor);
        Arg other = e.subtract(Edge.one(e), rest);
        return List.of(
                edge.tap(e.add(floor, -1), far(e, e.add(rest, 1))),
                edge.tap(floor, near(e, rest)),
                edge.tap(e.add(floor, 1), near(e, other)),
                edge.tap(e.add(floor, 2), far(e, e.add(other, 1))));
    }

    /** For distances up to 1: {@code ((a + 2) x - (a + 3)) x^2 + 1}. */
    private static Arg near(Expressions e, Arg x) {
        Arg line = e.add(e.multiply(x, CUBIC + 2), -(CUBIC + 3));
        return e.add(e.multiply(e.multiply(line, x), x), 1);
    }

    /** For distances from 1 to 2: {@code ((a x - 5 a) x + 8 a) x - 4 a}. */
    private static Arg far(Expressions e, Arg x) {
        Arg line = e.add(e.multiply(x, CUBIC), -5 * CUBIC);
        return e.add(e.multiply(e.add(e.multiply(line, x), 8 * CUBIC), x), -4 * CUBIC);
    }

    /** The treatment of places outside the image along one dimension. */
    private record Edge(NodeContext node, Expressions e, String padding, int size, boolean isAligned) {
        Edge {
            node.require(
                    List.of("zeros", "border", "reflection").contains(padding),
                    "its padding_mode is `" + padding + "`",
                    "zeros, border or reflection");
        }

        static Arg one(Expressions e) {
            return e.number(1, DType.FLOAT32);
        }

        /** The place that stands for one outside the image. */
        Arg inside(Arg x) {
            return switch (padding) {
                case "border" -> limited(x);
                case "reflection" -> reflected(x);
                default -> x;
            };
        }

        Tap tap(Arg place, Arg weight) {
            Arg limited = limited(inside(place));
            Arg index = e.cast(limited, DType.INT32);
            if (!padding.equals("zeros")) {
                return new Tap(index, weight);
            }
            Arg isInside = e.binary(Binary.Kind.EQUAL, limited, place);
            return new Tap(index, e.where(isInside, weight, e.number(0, DType.FLOAT32)));
        }

        private Arg limited(Arg x) {
            Arg above = e.binary(Binary.Kind.MAXIMUM, x, e.number(0, DType.FLOAT32));
            return e.binary(Binary.Kind.MINIMUM, above, e.number(size - 1, DType.FLOAT32));
        }

        /** Mirrored at the centres of the outermost pixels, or at their outer edges, as often as needed. */
        private Arg reflected(Arg x) {
            double least = isAligned ? 0 : -0.5;
            double range = isAligned ? size - 1 : size;
            if (range == 0) {
                return e.multiply(x, 0);
            }
            Arg period = e.number(2 * range, DType.FLOAT32);
            Arg within = e.binary(Binary.Kind.FLOOR_MOD, e.add(x, -least), period);
            Arg back = e.subtract(period, within);
            return e.add(e.binary(Binary.Kind.MINIMUM, within, back), least);
        }
    }
}
