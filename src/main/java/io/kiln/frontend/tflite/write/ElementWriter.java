// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.Add;
import io.kiln.frontend.tflite.schema.OperatorOptions.Div;
import io.kiln.frontend.tflite.schema.OperatorOptions.Mul;
import io.kiln.frontend.tflite.schema.OperatorOptions.Sub;
import io.kiln.frontend.tflite.write.Emission.NodeWriter;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.Precision;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes operators on elements, and softmax. */
final class ElementWriter implements NodeWriter {
    private static final Map<Unary.Kind, BuiltinOperator> UNARY = Map.ofEntries(
            Map.entry(Unary.Kind.ABS, BuiltinOperator.ABS),
            Map.entry(Unary.Kind.NEGATIVE, BuiltinOperator.NEG),
            Map.entry(Unary.Kind.SQRT, BuiltinOperator.SQRT),
            Map.entry(Unary.Kind.RSQRT, BuiltinOperator.RSQRT),
            Map.entry(Unary.Kind.EXP, BuiltinOperator.EXP),
            Map.entry(Unary.Kind.LOG, BuiltinOperator.LOG),
            Map.entry(Unary.Kind.SIN, BuiltinOperator.SIN),
            Map.entry(Unary.Kind.COS, BuiltinOperator.COS),
            Map.entry(Unary.Kind.CEIL, BuiltinOperator.CEIL),
            Map.entry(Unary.Kind.FLOOR, BuiltinOperator.FLOOR),
            Map.entry(Unary.Kind.ROUND, BuiltinOperator.ROUND),
            Map.entry(Unary.Kind.SIGMOID, BuiltinOperator.LOGISTIC),
            Map.entry(Unary.Kind.TANH, BuiltinOperator.TANH),
            Map.entry(Unary.Kind.ELU, BuiltinOperator.ELU),
            Map.entry(Unary.Kind.HARD_SWISH, BuiltinOperator.HARD_SWISH));

    private static final Map<Binary.Kind, BuiltinOperator> BINARY = Map.ofEntries(
            Map.entry(Binary.Kind.ADD, BuiltinOperator.ADD),
            Map.entry(Binary.Kind.SUBTRACT, BuiltinOperator.SUB),
            Map.entry(Binary.Kind.MULTIPLY, BuiltinOperator.MUL),
            Map.entry(Binary.Kind.DIVIDE, BuiltinOperator.DIV),
            Map.entry(Binary.Kind.MAXIMUM, BuiltinOperator.MAXIMUM),
            Map.entry(Binary.Kind.MINIMUM, BuiltinOperator.MINIMUM),
            Map.entry(Binary.Kind.MAXIMUM_OR_NAN, BuiltinOperator.MAXIMUM),
            Map.entry(Binary.Kind.MINIMUM_OR_NAN, BuiltinOperator.MINIMUM),
            Map.entry(Binary.Kind.SQUARED_DIFFERENCE, BuiltinOperator.SQUARED_DIFFERENCE),
            Map.entry(Binary.Kind.FLOOR_DIVIDE, BuiltinOperator.FLOOR_DIV),
            Map.entry(Binary.Kind.FLOOR_MOD, BuiltinOperator.FLOOR_MOD),
            Map.entry(Binary.Kind.PRELU, BuiltinOperator.PRELU));

    @Override
    public boolean knows(Op op) {
        return op instanceof Unary unary
                ? UNARY.containsKey(unary.kind())
                : !(op instanceof Binary binary) || BINARY.containsKey(binary.kind());
    }

    @Override
    public boolean write(Emission node) {
        if (node.op() instanceof Softmax softmax) {
            softmax(node, softmax);
            return true;
        }
        if (node.op() instanceof LeakyRelu leaky) {
            Options alpha =
                    Options.of(OperatorOptions.LeakyRelu.TYPE).with(OperatorOptions.LeakyRelu.ALPHA, leaky.alpha());
            node.write(BuiltinOperator.LEAKY_RELU, node.version(1, 2, 2), node.data(), alpha);
            return true;
        }
        if (node.op() instanceof Clip clip) {
            return node.writeClamp(clip);
        }
        return node.op() instanceof Unary unary ? unary(node, unary) : binary(node, (Binary) node.op());
    }

    /**
     * For int16, TensorFlow Lite's library multiplies the scale by beta in single precision, TensorFlow Lite Micro in double precision. So
     * the data is first converted to a scale that includes beta.
     */
    private static void softmax(Emission node, Softmax softmax) {
        int data = node.data(0);
        float beta = softmax.beta();
        if (node.planned().precision() == Precision.INT16 && beta != 1) {
            Format format = node.dataFormat();
            Quantization scaled =
                    new Quantization(format.quantization().orElseThrow().scale() * beta, 0);
            int multiplied = node.graph()
                    .tensor(node.name() + "_beta", node.type(), new Format(format.dtype(), Optional.of(scaled)));
            node.graph().multiply(data, beta, multiplied);
            data = multiplied;
            beta = 1;
        }
        node.write(
                BuiltinOperator.SOFTMAX,
                node.version(1, 2, 3),
                List.of(data),
                Options.of(OperatorOptions.Softmax.TYPE).with(OperatorOptions.Softmax.BETA, beta));
    }

    private static boolean unary(Emission node, Unary unary) {
        Optional<BuiltinOperator> code = Optional.ofNullable(UNARY.get(unary.kind()));
        boolean hasVersions = unary.kind() == Unary.Kind.SIGMOID || unary.kind() == Unary.Kind.TANH;
        code.ifPresent(builtin -> node.write(builtin, hasVersions ? node.version(1, 2, 3) : 1));
        return code.isPresent();
    }

    private static boolean binary(Emission node, Binary binary) {
        Optional<BuiltinOperator> code = Optional.ofNullable(BINARY.get(binary.kind()));
        if (code.isEmpty() || !node.type().dtype().isFloat()) {
            return false;
        }
        Emission unclamped = node.unclamped();
        int version = binary.kind() == Binary.Kind.PRELU ? 1 : node.version(1, 2, 2);
        unclamped.write(code.get(), version, node.data(), options(binary.kind(), node.fusedActivation()));
        node.clampAfter(unclamped);
        return true;
    }

    private static Options options(Binary.Kind kind, int activation) {
        return switch (kind) {
            case ADD -> Options.of(Add.TYPE).with(Add.FUSED_ACTIVATION_FUNCTION, activation);
            case SUBTRACT -> Options.of(Sub.TYPE).with(Sub.FUSED_ACTIVATION_FUNCTION, activation);
            case MULTIPLY -> Options.of(Mul.TYPE).with(Mul.FUSED_ACTIVATION_FUNCTION, activation);
            case DIVIDE -> Options.of(Div.TYPE).with(Div.FUSED_ACTIVATION_FUNCTION, activation);
            default -> Options.NONE;
        };
    }
}
