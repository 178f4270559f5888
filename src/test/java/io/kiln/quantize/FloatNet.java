// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.ConstantFolder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Puts small float networks with seeded weights together, one call per operator; layers are named {@code t<id>}. */
public final class FloatNet {
    private final Random random;
    private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));

    public FloatNet(long seed) {
        random = new Random(seed);
    }

    public Arg.Ref input(int... shape) {
        return graph.parameter("in" + next(), new TensorType(Shape.of(shape), DType.FLOAT32), Optional.empty());
    }

    /** A variable that begins with zeros. */
    public Arg.Ref variable(int... shape) {
        return variable(new TensorType(Shape.of(shape), DType.FLOAT32));
    }

    /** A variable of any type that begins with zeros. */
    public Arg.Ref variable(TensorType type) {
        return graph.variable("state" + next(), type);
    }

    public Arg.Ref bind(Op op, Arg... args) {
        return graph.call(op, List.of(args), new Origin("net", graph.bindings().size(), op.name(), "t" + next()));
    }

    private int next() {
        return graph.params().size()
                + graph.variables().size()
                + graph.bindings().size();
    }

    /** A constant with elements from N(0, 1) times a factor. */
    public Constant constant(float factor, int... shape) {
        TensorType type = new TensorType(Shape.of(shape), DType.FLOAT32);
        ByteBuffer buffer = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            buffer.putFloat((float) random.nextGaussian() * factor);
        }
        return new Constant("c", type, Bytes.wrap(buffer.array()));
    }

    public Shape shape(Arg.Ref value) {
        return graph.type(value).shape();
    }

    /** A convolution with a bias. */
    public Arg.Ref conv(Arg.Ref data, Window window, int channels) {
        int inputs = shape(data).dim(3);
        Arg.Ref sums = bind(
                new Conv2d(window, 1, channels, "OHWI"),
                data,
                constant(0.3f, channels, window.kernelH(), window.kernelW(), inputs));
        return bind(new BiasAdd(3), sums, constant(0.2f, channels));
    }

    /** A depthwise convolution with a bias. */
    public Arg.Ref depthwise(Arg.Ref data, Window window) {
        int channels = shape(data).dim(3);
        Arg.Ref sums = bind(
                new Conv2d(window, channels, channels, "HWOI"),
                data,
                constant(0.3f, window.kernelH(), window.kernelW(), channels, 1));
        return bind(new BiasAdd(3), sums, constant(0.2f, channels));
    }

    /** A fully connected layer with a bias. */
    public Arg.Ref dense(Arg.Ref data, int units) {
        Arg.Ref sums =
                bind(new Dense(units), data, constant(0.3f, units, shape(data).dim(1)));
        return bind(new BiasAdd(1), sums, constant(0.2f, units));
    }

    public Arg.Ref relu(Arg.Ref data) {
        return bind(new Clip(0, Float.MAX_VALUE), data);
    }

    public Function function(Arg.Ref... results) {
        List<Result> named = new ArrayList<>();
        for (Arg.Ref result : results) {
            named.add(new Result(result.id(), "out" + named.size(), Optional.empty()));
        }
        return graph.build("net", named);
    }

    /** Samples from N(0, 1) for a function's float inputs. */
    public static List<Sample> samples(Function function, int count, long seed) {
        Random random = new Random(seed);
        List<Sample> samples = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            List<Bytes> inputs = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                ByteBuffer buffer =
                        ByteBuffer.allocate((int) parameter.type().bytes()).order(ByteOrder.LITTLE_ENDIAN);
                while (buffer.hasRemaining()) {
                    buffer.putFloat((float) random.nextGaussian());
                }
                inputs.add(Bytes.wrap(buffer.array()));
            }
            samples.add(new Sample("sample " + k, inputs));
        }
        return samples;
    }
}
