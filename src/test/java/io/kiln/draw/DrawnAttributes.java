// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.DType;
import io.kiln.ir.op.AttributeReader;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Answers an operator's reader of attributes with numbers that fit data of a shape and an element type, wherever its signature lets it choose. */
final class DrawnAttributes implements AttributeReader {
    private static final List<Double> NUMBERS = List.of(0.0, 1.0, 1.0, 0.5, -0.25, 2.5, 6.0);

    private final FunctionDraw draw;
    private final Shape shape;
    private final DType dtype;
    private final List<Integer> ends = new ArrayList<>();
    private final List<Integer> strides = new ArrayList<>();
    private List<Integer> kernel = List.of(1, 1);

    DrawnAttributes(FunctionDraw draw, Shape shape, DType dtype) {
        this.draw = draw;
        this.shape = shape;
        this.dtype = dtype;
    }

    @Override
    public boolean has(String name) {
        return true;
    }

    @Override
    public int integer(String name, int min, int max) {
        int drawn = name.endsWith("zero_point")
                ? draw.zeroPoint(dtype)
                : name.endsWith("multiplier")
                        ? (max < 1 << 30
                                ? 1 + draw.below(max)
                                : (1 << 30) + Math.min(1, draw.below(4)) * draw.below(1 << 30))
                        : name.endsWith("shift")
                                ? 1 - draw.below(9)
                                : switch (name) {
                                    case "axis" -> axis() - (min < 0 && draw.below(2) == 0 ? shape.rank() : 0);
                                    case "batch_dims" -> draw.below(4) / 3;
                                    case "k" -> 1 + draw.below(shape.dim(-1));
                                    default -> Math.max(min, -8) + draw.below(4);
                                };
        return Math.max(min, Math.min(max, drawn));
    }

    private int axis() {
        return draw.below(Math.max(1, shape.rank()));
    }

    @Override
    public List<Integer> integers(String name, int min, int max, Integer... sizes) {
        return switch (name) {
            case "axes" ->
                draw.shuffled(IntStream.range(0, shape.rank()).boxed().toList());
            case "axis" ->
                sizes.length == 1
                        ? List.of(axis())
                        : IntStream.range(0, shape.rank())
                                .filter(i -> draw.below(3) == 0)
                                .boxed()
                                .toList();
            case "begin" -> begins();
            case "end" -> ends;
            case "strides" -> sizes.length == 0 ? strides : List.of(1 + draw.below(3), 1 + draw.below(3));
            case "dilation" -> List.of(1, 1);
            case "pool_size" -> {
                kernel = List.of(side(1), side(2));
                yield kernel;
            }
            case "padding" -> List.of(edge(0), edge(1), edge(0), edge(1));
            case "size" -> List.of(1 + draw.below(9), 1 + draw.below(9));
            case "newshape" -> draw.below(2) == 0 ? List.of((int) shape.elements()) : draw.shuffled(shape.dims());
            default -> shape.dims();
        };
    }

    /** Few rows or columns, or all. */
    private int side(int axis) {
        int size = shape.rank() == 4 ? shape.dim(axis) : 1;
        return draw.below(3) == 0 ? size : 1 + draw.below(Math.min(4, size));
    }

    /** Less than half a window, as SAME pads, so that every window covers some input. */
    private int edge(int side) {
        return draw.below((kernel.get(side) + 1) / 2);
    }

    private List<Integer> begins() {
        List<Integer> begins = new ArrayList<>();
        for (int size : shape.dims()) {
            int first = draw.below(size);
            int last = first + draw.below(size - first);
            boolean isBackwards = draw.below(4) == 0;
            begins.add(isBackwards ? last : first);
            ends.add(isBackwards ? first - 1 - (first == 0 ? size : 0) : last + 1);
            strides.add((isBackwards ? -1 : 1) * (1 + draw.below(3) / 2));
        }
        return begins;
    }

    @Override
    public List<List<Integer>> pairs(String name, int min, int max) {
        return IntStream.range(0, shape.rank())
                .mapToObj(
                        axis -> axis > 0 && draw.below(2) == 0 ? List.of(draw.below(3), draw.below(3)) : List.of(0, 0))
                .toList();
    }

    @Override
    public double real(String name) {
        return dtype.isFloat() ? draw.oneOf(NUMBERS) : draw.below(200) - 100;
    }

    @Override
    public List<Double> reals(String name) {
        return DoubleStream.generate(() -> real(name))
                .limit(shape.dim(-1))
                .boxed()
                .toList();
    }

    @Override
    public boolean truth(String name, boolean otherwise) {
        return draw.below(2) == 0;
    }

    @Override
    public String choice(String name, String... allowed) {
        return draw.oneOf(List.of(allowed));
    }

    @Override
    public DType dtype(String name, DType... allowed) {
        return draw.oneOf(List.of(allowed.length == 0 ? DType.values() : allowed));
    }

    @Override
    public String text(String name, Pattern form) {
        throw new IllegalArgumentException("no texts are drawn: " + name);
    }

    @Override
    public int function(String name) {
        throw new IllegalArgumentException("no functions are drawn: " + name);
    }
}
