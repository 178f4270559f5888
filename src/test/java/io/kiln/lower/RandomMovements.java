// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Seeded models of one operator that copies, finds or reduces elements, of any element type; most of them images with rows. */
final class RandomMovements {
    private final Random random;
    private final DType dtype;
    private final Shape shape;
    private final List<Parameter> params = new ArrayList<>();

    private RandomMovements(long seed) {
        this.random = new Random(seed);
        this.dtype = List.of(DType.values()).get(random.nextInt(DType.values().length));
        List<Integer> dims = new ArrayList<>();
        int rank = random.nextInt(3) == 0 ? 1 + random.nextInt(5) : 4;
        for (int i = 0; i < rank; i++) {
            dims.add(rank == 4 && i == 0 && random.nextInt(6) > 0 ? 1 : 1 + random.nextInt(7));
        }
        this.shape = new Shape(dims);
    }

    /** A function named {@code move<seed>}; the same for the same seed. */
    static Function next(long seed) {
        RandomMovements movement = new RandomMovements(seed);
        return switch (movement.random.nextInt(10)) {
            case 0 -> movement.transpose(seed);
            case 1 -> movement.slice(seed);
            case 2 -> movement.pad(seed);
            case 3 -> movement.broadcast(seed);
            case 4 -> movement.take(seed);
            case 5 -> movement.resize(seed);
            case 6 -> movement.reduce(seed);
            case 7 -> movement.cumsum(seed);
            case 8 -> movement.update(seed);
            default -> movement.concatenate(seed);
        };
    }

    private Function transpose(long seed) {
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            axes.add(i);
        }
        Collections.shuffle(axes, random);
        return function(seed, new Transpose(axes), parameter(shape));
    }

    private Function slice(long seed) {
        List<Integer> begin = new ArrayList<>();
        List<Integer> end = new ArrayList<>();
        List<Integer> strides = new ArrayList<>();
        for (int size : shape.dims()) {
            int first = random.nextInt(size);
            int last = first + random.nextInt(size - first);
            boolean backwards = random.nextInt(4) == 0;
            begin.add(backwards ? last : first);
            end.add(backwards ? first - 1 - (first == 0 ? size : 0) : last + 1);
            strides.add((backwards ? -1 : 1) * (1 + random.nextInt(3) / 2));
        }
        return function(seed, new StridedSlice(begin, end, strides), parameter(shape));
    }

    private Function pad(long seed) {
        List<Integer> before = new ArrayList<>();
        List<Integer> after = new ArrayList<>();
        for (int axis = 0; axis < shape.rank(); axis++) {
            boolean pads = axis > 0 && random.nextBoolean();
            before.add(pads ? random.nextInt(3) : 0);
            after.add(pads ? random.nextInt(3) : 0);
        }
        return function(seed, new Pad(before, after), parameter(shape), constant(Shape.scalar()));
    }

    private Function broadcast(long seed) {
        List<Integer> own = new ArrayList<>(shape.dims());
        for (int i = 0; i < own.size(); i++) {
            own.set(i, random.nextBoolean() ? 1 : own.get(i));
        }
        int missing = random.nextInt(3) == 0 ? random.nextInt(own.size()) : 0;
        return function(seed, new BroadcastTo(shape), parameter(new Shape(own.subList(missing, own.size()))));
    }

    private Function concatenate(long seed) {
        int axis = random.nextInt(shape.rank());
        List<Arg> parts = new ArrayList<>();
        parts.add(parameter(shape));
        for (int i = random.nextInt(3); i >= 0; i--) {
            List<Integer> dims = new ArrayList<>(shape.dims());
            dims.set(axis, 1 + random.nextInt(5));
            parts.add(
                    switch (random.nextInt(4)) {
                        case 0 -> constant(new Shape(dims));
                        case 1 -> parts.get(0);
                        default -> parameter(new Shape(dims));
                    });
        }
        return function(seed, new Concatenate(axis, parts.size()), parts.toArray(Arg[]::new));
    }

    /** By indices: slices, rows that are replaced or combined, or the indices of extreme elements. */
    private Function take(long seed) {
        int kind = random.nextInt(3);
        if (kind == 0) {
            return scatter(seed);
        }
        if (kind == 1 && !dtype.isWideUnsigned()) {
            int size = shape.dim(-1);
            return function(seed, new Topk(1 + random.nextInt(size), random.nextBoolean()), parameter(shape));
        }
        int axis = random.nextInt(shape.rank());
        TensorType type = new TensorType(Shape.of(1 + random.nextInt(5)), DType.INT32);
        Constant indices = new Constant("", type, RandomOperators.input(type, random.nextLong()));
        return function(seed, new Take(axis, 0), parameter(shape), indices);
    }

    private Function scatter(long seed) {
        boolean isArithmetic = dtype.isFloat() || dtype == DType.INT32;
        ScatterNd.Mode[] modes = ScatterNd.Mode.values();
        ScatterNd.Mode mode = isArithmetic ? modes[random.nextInt(modes.length)] : ScatterNd.Mode.UPDATE;
        int rows = 1 + random.nextInt(9);
        int width = 1 + random.nextInt(5);
        int updates = 1 + random.nextInt(7);
        TensorType type = new TensorType(Shape.of(1, updates), DType.INT32);
        Constant known = new Constant("", type, RandomOperators.input(type, random.nextLong()));
        Arg data = parameter(Shape.of(rows, width));
        Arg indices = random.nextBoolean() ? known : parameter(type);
        return function(seed, new ScatterNd(mode), data, indices, parameter(Shape.of(updates, width)));
    }

    /** The nearest pixels, of any type; mixed ones if these are int8 or float. */
    private Function resize(long seed) {
        boolean linear = dtype == DType.INT8 || dtype.isFloat();
        int corners = random.nextInt(3);
        Resize2d op = new Resize2d(1 + random.nextInt(9), 1 + random.nextInt(9), linear, corners == 1, corners == 2);
        return function(seed, op, parameter(image()));
    }

    private Function reduce(long seed) {
        Reduce.Kind kind = dtype.isFloat() ? Reduce.Kind.MEAN : Reduce.Kind.MAX;
        List<Integer> axes = new ArrayList<>();
        for (int axis = 0; axis < 4; axis++) {
            if (random.nextInt(3) == 0) {
                axes.add(axis);
            }
        }
        boolean narrow = dtype.isFloat() || dtype == DType.INT8 || dtype == DType.INT16;
        return narrow ? function(seed, new Reduce(kind, axes, true), parameter(image())) : resize(seed);
    }

    private Function cumsum(long seed) {
        TflCumsum op = new TflCumsum(random.nextInt(shape.rank()), random.nextBoolean(), random.nextBoolean());
        return switch (dtype) {
            case FLOAT32, INT32, INT64 -> function(seed, op, parameter(shape), Constant.scalar(0));
            case INT8 -> function(seed, op, parameter(shape), Constant.scalar(random.nextInt(256) - 128));
            default -> update(seed);
        };
    }

    private Function update(long seed) {
        List<Integer> part = new ArrayList<>();
        for (int size : shape.dims()) {
            part.add(1 + random.nextInt(size));
        }
        DType indices = random.nextBoolean() ? DType.INT32 : DType.INT64;
        TensorType type = new TensorType(Shape.of(shape.rank()), indices);
        Constant start = new Constant("", type, RandomOperators.input(type, random.nextLong()));
        Arg data = parameter(shape);
        Arg update = parameter(new Shape(part));
        return function(
                seed, new TflDynamicUpdateSlice(), data, update, random.nextBoolean() ? start : parameter(type));
    }

    private Shape image() {
        return shape.rank() == 4 ? shape : Shape.of(1, 4, 3, 2);
    }

    private Arg parameter(Shape own) {
        return parameter(new TensorType(own, dtype));
    }

    private Arg parameter(TensorType type) {
        params.add(new Parameter(params.size(), "in" + params.size(), type, Optional.empty()));
        return new Arg.Ref(params.size() - 1);
    }

    private Constant constant(Shape own) {
        TensorType type = new TensorType(own, dtype);
        return new Constant("", type, RandomOperators.input(type, random.nextLong()));
    }

    private Function function(long seed, Op op, Arg... args) {
        List<TensorType> types = new ArrayList<>();
        for (Arg arg : args) {
            types.add(
                    arg instanceof Constant constant
                            ? constant.type()
                            : params.get(((Arg.Ref) arg).id()).type());
        }
        Binding binding =
                new Binding(100, op, List.of(args), op.infer(types), new Origin("random", 0, op.name(), "t100"));
        return new Function("move" + seed, params, List.of(binding), List.of(new Result(100, "out", Optional.empty())));
    }
}
