// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A function under construction, and the seeded choices it is made by. */
final class FunctionDraw {
    private static final int[] CHANNELS = {1, 2, 3, 4, 5, 7, 8, 12, 16};

    final Random random;
    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();

    FunctionDraw(long seed) {
        this.random = new Random(seed);
    }

    /** The function of all that was bound; its result is what was bound last. */
    Function function(String name) {
        int last = bindings.get(bindings.size() - 1).id();
        return new Function(name, params, bindings, List.of(new Result(last, "out", Optional.empty())));
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    int channels() {
        return CHANNELS[below(CHANNELS.length)];
    }

    Arg.Ref parameter(Shape shape, DType dtype) {
        Optional<Quantization> quantization =
                dtype == DType.INT8 ? Optional.of(new Quantization(0.05f, 0)) : Optional.empty();
        params.add(new Parameter(params.size(), "in" + params.size(), new TensorType(shape, dtype), quantization));
        return new Arg.Ref(params.size() - 1);
    }

    Arg.Ref bind(Op op, Arg... args) {
        List<TensorType> types = new ArrayList<>();
        for (Arg arg : args) {
            if (arg instanceof Constant constant) {
                types.add(constant.type());
            } else {
                int id = ((Arg.Ref) arg).id();
                types.add(
                        id < 100
                                ? params.get(id).type()
                                : bindings.get(id - 100).type());
            }
        }
        int id = 100 + bindings.size();
        bindings.add(new Binding(id, op, List.of(args), op.infer(types), new Origin("random", 0, op.name(), "t" + id)));
        return new Arg.Ref(id);
    }

    Constant weights(Shape shape, boolean quantized) {
        TensorType type = new TensorType(shape, quantized ? DType.INT8 : DType.FLOAT32);
        return new Constant("weight", type, RandomOperators.input(type, random.nextLong()));
    }

    Constant scale() {
        return Constant.scalar(0.001f + random.nextFloat());
    }

    Constant zeroPoint() {
        return Constant.scalar(below(256) - 128);
    }

    /** Binds a clip of the value, or leaves it. */
    void clip(Arg.Ref value, boolean quantized) {
        if (random.nextBoolean()) {
            int low = quantized ? below(100) - 100 : 0;
            bind(new Clip(low, quantized ? low + below(100) : 6), value);
        }
    }
}
