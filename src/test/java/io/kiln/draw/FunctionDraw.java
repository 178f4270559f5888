// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** A function under construction, and the seeded choices it is made by. */
public final class FunctionDraw extends Choices {
    private static final int[] CHANNELS = {1, 2, 3, 4, 5, 7, 8, 12, 16};
    private static final int MOST_ELEMENTS = 3000;

    private GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));

    /** A function without operators. */
    public FunctionDraw(long seed) {
        super(new Random(seed));
    }

    /** Forgets the function, not the seed. */
    void clear() {
        graph = new GraphBuilder(new ConstantFolder(0));
    }

    /** The function of all that was bound; its result is what was bound last. */
    public Function function(String name) {
        return function(
                name,
                List.of(new Arg.Ref(
                        graph.bindings().get(graph.bindings().size() - 1).id())));
    }

    /** The function with some results. */
    Function function(String name, List<Arg.Ref> results) {
        List<Result> named = IntStream.range(0, results.size())
                .mapToObj(i -> new Result(results.get(i).id(), "out" + (i == 0 ? "" : i), Optional.empty()))
                .toList();
        return graph.build(name, named);
    }

    public int channels() {
        return CHANNELS[below(CHANNELS.length)];
    }

    /** An image, or a tensor of one to five dimensions. */
    Shape shape() {
        return below(2) == 0 ? image() : shape(1 + below(5));
    }

    /** Some rows, or a tensor of any number of dimensions. */
    Shape rows() {
        return below(2) == 0 ? shape(2) : shape();
    }

    Shape image() {
        return shape(4);
    }

    private Shape shape(int rank) {
        List<Integer> dims = new ArrayList<>();
        int elements = 1;
        for (int i = 0; i < rank; i++) {
            boolean isLast = i == rank - 1;
            int dim = rank == 4 && i == 0
                    ? 1 + below(6) / 5
                    : isLast && below(5) == 0 ? 1 + below(40) : isLast ? channels() : 1 + below(7);
            dims.add(elements * dim > MOST_ELEMENTS ? 1 : dim);
            elements *= dims.get(i);
        }
        return new Shape(dims);
    }

    /** The shape itself, one dimension of it, or some of its dimensions with leading ones missing. */
    Shape broadcastable(Shape shape) {
        List<Integer> dims = shape.dims();
        return switch (below(5)) {
            case 0 -> shape;
            case 1, 2 -> new Shape(dims.subList(Math.max(0, dims.size() - 1), dims.size()));
            default -> {
                List<Integer> own = new ArrayList<>(dims);
                own.replaceAll(size -> below(2) == 0 ? 1 : size);
                int missing = below(3) == 0 ? below(Math.max(1, own.size())) : 0;
                yield new Shape(own.subList(missing, own.size()));
            }
        };
    }

    /** A shape with another size of a dimension. */
    Shape with(Shape shape, int axis, int size) {
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(axis, size);
        return new Shape(dims);
    }

    public Arg.Ref parameter(Shape shape, DType dtype) {
        return parameter(new TensorType(shape, dtype));
    }

    Arg.Ref parameter(TensorType type) {
        Optional<Quantization> quantization =
                type.dtype() == DType.INT8 ? Optional.of(new Quantization(0.05f, 0)) : Optional.empty();
        return graph.parameter("in" + graph.params().size(), type, quantization);
    }

    public Arg.Ref bind(Op op, Arg... args) {
        int number = graph.bindings().size();
        return graph.call(op, List.of(args), new Origin("random", number, op.name(), "t" + number));
    }

    Arg.Ref bind(Op op, List<Arg> args) {
        return bind(op, args.toArray(Arg[]::new));
    }

    public TensorType type(Arg value) {
        return graph.type(value);
    }

    public Constant constant(TensorType type) {
        return new Constant("constant", type, RandomOperators.input(type, random.nextLong()));
    }

    public Constant weights(Shape shape, boolean quantized) {
        return constant(new TensorType(shape, quantized ? DType.INT8 : DType.FLOAT32));
    }

    public Constant scale() {
        return Constant.scalar(0.001f + random.nextFloat());
    }

    public Constant zeroPoint() {
        return Constant.scalar(below(256) - 128);
    }

    /** A zero point of data of a type: 0 or any number, or one of the ends. */
    int zeroPoint(DType dtype) {
        int least = dtype == DType.UINT8 ? 0 : Byte.MIN_VALUE;
        return dtype == DType.INT16
                ? 0
                : switch (below(8)) {
                    case 0 -> 0;
                    case 1 -> least;
                    case 2 -> least + 255;
                    default -> least + below(256);
                };
    }

    /** The mantissa of a factor. */
    Constant multiplier() {
        return Constant.scalar((1 << 30) + below(1 << 30));
    }

    /** A vector of one number. */
    Constant repeated(Constant one, int times) {
        ByteBuffer data = ByteBuffer.allocate(one.data().size() * times).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < times; i++) {
            data.put(one.data().toArray());
        }
        return new Constant(
                one.name(), new TensorType(Shape.of(times), one.type().dtype()), Bytes.wrap(data.array()));
    }

    /** Binds a clip of the value, or leaves it. */
    public Arg.Ref clip(Arg.Ref value, boolean quantized) {
        if (!random.nextBoolean()) {
            return value;
        }
        int low = quantized ? below(100) - 100 : 0;
        return bind(new Clip(low, quantized ? low + below(100) : 6), value);
    }
}
