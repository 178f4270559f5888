// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.stream.Stream;

/** The table of element-wise operators. */
public final class OnnxElementwiseImporters {
    private static final List<OnnxRegistration> UNARY = List.of(
            onnx("Sqrt", new OnnxUnaryImporter(Unary.Kind.SQRT)),
            onnx("Exp", new OnnxUnaryImporter(Unary.Kind.EXP)),
            onnx("Log", new OnnxUnaryImporter(Unary.Kind.LOG)),
            onnx("Sin", new OnnxUnaryImporter(Unary.Kind.SIN)),
            onnx("Cos", new OnnxUnaryImporter(Unary.Kind.COS)),
            onnx("Ceil", new OnnxUnaryImporter(Unary.Kind.CEIL)),
            onnx("Floor", new OnnxUnaryImporter(Unary.Kind.FLOOR)),
            onnx("Round", new OnnxUnaryImporter(Unary.Kind.ROUND)),
            onnx("Sigmoid", new OnnxUnaryImporter(Unary.Kind.SIGMOID)),
            onnx("Tanh", new OnnxUnaryImporter(Unary.Kind.TANH)),
            onnx("HardSwish", new OnnxUnaryImporter(Unary.Kind.HARD_SWISH)),
            onnx("Not", new OnnxUnaryImporter(Unary.Kind.LOGICAL_NOT)));

    private static final List<OnnxRegistration> BINARY = List.of(
            onnx("Add", new OnnxBinaryImporter(Binary.Kind.ADD)),
            onnx("Sub", new OnnxBinaryImporter(Binary.Kind.SUBTRACT)),
            onnx("Mul", new OnnxBinaryImporter(Binary.Kind.MULTIPLY)),
            onnx("Div", new OnnxBinaryImporter(Binary.Kind.DIVIDE)),
            onnx("Equal", new OnnxBinaryImporter(Binary.Kind.EQUAL)),
            onnx("Less", new OnnxBinaryImporter(Binary.Kind.LESS)),
            onnx("LessOrEqual", new OnnxBinaryImporter(Binary.Kind.LESS_EQUAL)),
            onnx("Greater", new OnnxBinaryImporter(Binary.Kind.GREATER)),
            onnx("GreaterOrEqual", new OnnxBinaryImporter(Binary.Kind.GREATER_EQUAL)),
            onnx("And", new OnnxBinaryImporter(Binary.Kind.LOGICAL_AND)),
            onnx("Or", new OnnxBinaryImporter(Binary.Kind.LOGICAL_OR)),
            onnx("Xor", new OnnxBinaryImporter(Binary.Kind.NOT_EQUAL)),
            onnx("BitwiseAnd", new OnnxBinaryImporter(Binary.Kind.BITWISE_AND)),
            onnx("BitwiseOr", new OnnxBinaryImporter(Binary.Kind.BITWISE_OR)),
            onnx("BitwiseXor", new OnnxBinaryImporter(Binary.Kind.BITWISE_XOR)),
            onnx("PRelu", new OnnxBinaryImporter(Binary.Kind.PRELU)),
            onnx("Sum", new VariadicImporter(Binary.Kind.ADD, false)),
            onnx("Max", new VariadicImporter(Binary.Kind.MAXIMUM, false)),
            onnx("Min", new VariadicImporter(Binary.Kind.MINIMUM, false)),
            onnx("Mean", new VariadicImporter(Binary.Kind.ADD, true)));

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = Stream.of(
                    UNARY,
                    BINARY,
                    ActivationImporters.ALL,
                    SelectImporters.ALL,
                    FunctionImporters.ALL,
                    ArithmeticImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxElementwiseImporters() {}

    /**
     * A function of any number of inputs, from the first to the last.
     *
     * @param kind function of two
     * @param isMean whether the result is divided by the number of inputs
     */
    private record VariadicImporter(Binary.Kind kind, boolean isMean) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Expressions e = new Expressions(node);
            Arg value = node.arg(0);
            for (int i = 1; i < node.inputs(); i++) {
                node.require(node.element(i) == node.element(0), "its inputs have several element types", "one");
                value = WiderElements.apply(e, kind, node.element(0), value, node.arg(i));
            }
            node.finish(isMean ? e.divide(value, e.number(node.inputs(), e.dtype(value))) : value);
        }
    }
}
