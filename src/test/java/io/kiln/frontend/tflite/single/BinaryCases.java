// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import java.util.function.Supplier;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Functions of two and more elements, with broadcasting. */
final class BinaryCases {
    /** More dimensions than TensorFlow Lite's kernels broadcast. */
    private static final int MOST_RANK = 4;

    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of(
                    "ADD",
                    d -> arithmetic(
                            d, BuiltinOperator.ADD, BuiltinOptions.AddOptions, d.oneOf(FLOAT32, INT8, INT8, INT16))),
            OperatorCases.of(
                            "SUB",
                            d -> arithmetic(
                                    d, BuiltinOperator.SUB, BuiltinOptions.SubOptions, d.oneOf(FLOAT32, INT8, INT16)))
                    .roundedOtherwise("the scales' quotients are taken in double precision"),
            OperatorCases.of(
                            "MUL",
                            d -> arithmetic(
                                    d, BuiltinOperator.MUL, BuiltinOptions.MulOptions, d.oneOf(FLOAT32, INT8, INT16)))
                    .roundedOtherwise("the scales' product is taken in single precision"),
            OperatorCases.of("ADD_INTEGERS", d -> plain(d, BuiltinOperator.ADD, d.oneOf(INT32, INT64))),
            OperatorCases.of("SUB_INTEGERS", d -> integers(d, BuiltinOperator.SUB, BuiltinOptions.SubOptions)),
            OperatorCases.of("MUL_INTEGERS", d -> integers(d, BuiltinOperator.MUL, BuiltinOptions.MulOptions)),
            OperatorCases.of("DIV", BinaryCases::divide),
            OperatorCases.of("DIV_INT8", BinaryCases::divideBytes)
                    .withoutOracle("TensorFlow Lite has kernels of uint8 and none of int8"),
            OperatorCases.of("FLOOR_DIV", d -> floored(d, BuiltinOperator.FLOOR_DIV)),
            OperatorCases.of("FLOOR_MOD", d -> floored(d, BuiltinOperator.FLOOR_MOD)),
            OperatorCases.of(
                    "SQUARED_DIFFERENCE",
                    d -> plain(d, BuiltinOperator.SQUARED_DIFFERENCE, d.oneOf(FLOAT32, INT8, INT32))),
            OperatorCases.of("MAXIMUM", d -> ordered(d, BuiltinOperator.MAXIMUM)),
            OperatorCases.of("MINIMUM", d -> ordered(d, BuiltinOperator.MINIMUM)),
            OperatorCases.of("LOGICAL_AND", d -> plain(d, BuiltinOperator.LOGICAL_AND, BOOL)),
            OperatorCases.of("LOGICAL_OR", d -> plain(d, BuiltinOperator.LOGICAL_OR, BOOL)),
            OperatorCases.of("PRELU", BinaryCases::prelu)
                    .roundedOtherwise("the scales' quotients are taken in single precision"),
            comparison("EQUAL", BuiltinOperator.EQUAL, FLOAT32, INT8, INT32, INT64, BOOL),
            comparison("NOT_EQUAL", BuiltinOperator.NOT_EQUAL, FLOAT32, INT8, INT32, INT64, BOOL),
            comparison("LESS", BuiltinOperator.LESS, FLOAT32, INT8, INT32, INT64),
            comparison("LESS_EQUAL", BuiltinOperator.LESS_EQUAL, FLOAT32, INT8, INT32, INT64),
            comparison("GREATER", BuiltinOperator.GREATER, FLOAT32, INT8, INT32, INT64),
            comparison("GREATER_EQUAL", BuiltinOperator.GREATER_EQUAL, FLOAT32, INT8, INT32, INT64),
            OperatorCases.of("ADD_N", BinaryCases::addN),
            OperatorCases.of("ADD_N_INT8", BinaryCases::addNOfInt8)
                    .withoutOracle("TensorFlow Lite has no kernel of int8"),
            OperatorCases.of("SELECT", BinaryCases::select),
            OperatorCases.of("SELECT_V2", BinaryCases::selectBroadcast));

    private BinaryCases() {}

    private static int[] shape(Draw d) {
        return d.shape(1, MOST_RANK);
    }

    /** Two operands in either order, one of which may broadcast or be constant. */
    private static int[] operands(Draw d, byte type) {
        int[] shape = shape(d);
        TensorSpec full = d.tensor(type, shape);
        TensorSpec other = d.tensor(type, d.broadcastsTo(shape));
        int a = d.inputOfAnything(full);
        int b = d.coin() ? d.inputOrConstant(other) : d.inputOfAnything(other);
        return inEitherOrder(d, a, b);
    }

    private static int[] inEitherOrder(Draw d, int a, int b) {
        return d.coin() ? new int[] {a, b} : new int[] {b, a};
    }

    private static void arithmetic(Draw d, int builtin, byte options, byte type) {
        int[] in = operands(d, type);
        d.result(d.tensor(type));
        Options activation = options == BuiltinOptions.MulOptions
                ? Options.table(options, Field.int8(0, d.activation()))
                : Options.table(options, Field.int8(0, d.activation()), Field.bool(1, false));
        d.operator(builtin, type == INT16 ? 3 : 2, activation, in);
    }

    private static void plain(Draw d, int builtin, byte type) {
        int[] in = operands(d, type);
        d.result(d.tensor(type));
        d.operator(builtin, 1, Options.none(), in);
    }

    private static void integers(Draw d, int builtin, byte options) {
        int[] in = operands(d, INT32);
        d.result(d.tensor(INT32));
        d.operator(builtin, 1, Options.table(options, Field.int8(0, d.activation())), in);
    }

    private static Options division(Draw d) {
        return Options.table(BuiltinOptions.DivOptions, Field.int8(0, d.activation()));
    }

    private static void divide(Draw d) {
        int[] shape = shape(d);
        byte type = d.oneOf(FLOAT32, INT32);
        d.inputOfAnything(d.tensor(type, shape));
        TensorSpec divisor = d.tensor(type, d.broadcastsTo(shape));
        if (type == INT32) {
            d.input(divisor, 1, 50);
        } else {
            d.inputOfAnything(divisor);
        }
        d.compute(d.tensor(type), BuiltinOperator.DIV, 1, division(d));
    }

    /**
     * No operand is 0, and the output's scale is small: the kernel has no answer for a divisor of 0, and shifts small quotients by more bits
     * than C++ defines.
     */
    static void divideBytes(Draw d) {
        int[] shape = shape(d);
        boolean isPositive = d.coin();
        int zero = isPositive ? Byte.MIN_VALUE : Byte.MAX_VALUE;
        TensorSpec dividend = TensorSpec.int8("dividend", d.scale(), zero, shape);
        d.input(dividend, isPositive ? 1 : 0, isPositive ? Byte.MAX_VALUE : Byte.MAX_VALUE - 1);
        float scale = d.oneOf(1f, 0.25f, 1f / 64);
        d.input(TensorSpec.int8("divisor", scale, Byte.MIN_VALUE, d.broadcastsTo(shape)), 1, Byte.MAX_VALUE);
        float quotient = d.straddling(dividend.scales().get(0) / scale);
        TensorSpec out = TensorSpec.int8("quotient", quotient / 1024, d.between(-128, 127));
        d.compute(out, BuiltinOperator.DIV, 2, division(d));
    }

    private static void floored(Draw d, int builtin) {
        int[] shape = shape(d);
        d.inputOfAnything(d.tensor(FLOAT32, shape));
        d.add(d.constant(d.tensor(FLOAT32, d.broadcastsTo(shape))));
        d.compute(d.tensor(FLOAT32), builtin, 1, Options.none());
    }

    private static void ordered(Draw d, int builtin) {
        plain(d, builtin, d.oneOf(FLOAT32, INT8, INT16, INT32, INT64));
    }

    private static void prelu(Draw d) {
        byte type = d.oneOf(FLOAT32, INT8);
        int[] shape = shape(d);
        d.input(d.tensor(type, shape));
        d.inputOrConstant(d.tensor(type, d.broadcastsTo(shape)));
        d.compute(d.tensor(type), BuiltinOperator.PRELU, 1, Options.none());
    }

    private static OperatorCases comparison(String name, int builtin, Byte... types) {
        return OperatorCases.of(name, d -> {
            byte type = d.oneOf(types);
            int[] shape = shape(d);
            boolean isClose = type == INT32 || type == INT64;
            TensorSpec one = d.tensor(type, shape);
            TensorSpec other = d.tensor(type, d.broadcastsTo(shape));
            int a = isClose ? d.input(one, 0, 3) : d.input(one);
            int b = isClose ? d.input(other, 0, 3) : d.inputOrConstant(other);
            d.result(TensorSpec.of("y", BOOL));
            d.operator(builtin, 1, Options.none(), inEitherOrder(d, a, b));
        });
    }

    /** TensorFlow Lite limits each sum on the way, so that infinities of both signs do not make NaN. */
    private static void addN(Draw d) {
        int[] shape = shape(d);
        int count = d.between(2, 5);
        for (int i = 0; i < count; i++) {
            TensorSpec x = d.tensor(FLOAT32, shape);
            if (i == 0 || d.coin()) {
                d.inputOfNumbers(x);
            } else {
                d.add(d.constant(x));
            }
        }
        d.compute(d.tensor(FLOAT32), BuiltinOperator.ADD_N, 1, Options.none());
    }

    private static void addNOfInt8(Draw d) {
        TensorSpec first = d.tensor(INT8, shape(d));
        int more = d.between(1, 4);
        d.input(first);
        for (int i = 0; i < more; i++) {
            d.inputOrConstant(d.like(first, first.shape()));
        }
        d.compute(d.like(first), BuiltinOperator.ADD_N, 1, Options.none());
    }

    private static void select(Draw d) {
        int[] shape = shape(d);
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        d.input(TensorSpec.of("c", BOOL, d.oneOf(shape, new int[] {}, new int[] {shape[0]})));
        select(d, BuiltinOperator.SELECT, d.tensor(type, shape), () -> shape);
    }

    private static void selectBroadcast(Draw d) {
        int[] shape = shape(d);
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        d.input(TensorSpec.of("c", BOOL, d.broadcastsTo(shape)));
        select(d, BuiltinOperator.SELECT_V2, d.tensor(type, shape), () -> d.broadcastsTo(shape));
    }

    private static void select(Draw d, int builtin, TensorSpec x, Supplier<int[]> other) {
        d.input(x);
        d.inputOrConstant(d.like(x, other.get()));
        d.compute(d.like(x), builtin, 1, Options.none());
    }
}
