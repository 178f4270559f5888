// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.Registration;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.stream.Stream;

/** The table of element-wise operators. */
public final class ElementwiseImporters {
    private static final List<Registration> UNARY = List.of(
            onnx("Sqrt", new UnaryImporter(Unary.Kind.SQRT)),
            onnx("Exp", new UnaryImporter(Unary.Kind.EXP)),
            onnx("Log", new UnaryImporter(Unary.Kind.LOG)),
            onnx("Sin", new UnaryImporter(Unary.Kind.SIN)),
            onnx("Cos", new UnaryImporter(Unary.Kind.COS)),
            onnx("Ceil", new UnaryImporter(Unary.Kind.CEIL)),
            onnx("Floor", new UnaryImporter(Unary.Kind.FLOOR)),
            onnx("Round", new UnaryImporter(Unary.Kind.ROUND)),
            onnx("Sigmoid", new UnaryImporter(Unary.Kind.SIGMOID)),
            onnx("Tanh", new UnaryImporter(Unary.Kind.TANH)),
            onnx("HardSwish", new UnaryImporter(Unary.Kind.HARD_SWISH)),
            onnx("Not", new UnaryImporter(Unary.Kind.LOGICAL_NOT)));

    private static final List<Registration> BINARY = List.of(
            onnx("Add", new BinaryImporter(Binary.Kind.ADD)),
            onnx("Sub", new BinaryImporter(Binary.Kind.SUBTRACT)),
            onnx("Mul", new BinaryImporter(Binary.Kind.MULTIPLY)),
            onnx("Div", new BinaryImporter(Binary.Kind.DIVIDE)),
            onnx("Equal", new BinaryImporter(Binary.Kind.EQUAL)),
            onnx("Less", new BinaryImporter(Binary.Kind.LESS)),
            onnx("LessOrEqual", new BinaryImporter(Binary.Kind.LESS_EQUAL)),
            onnx("Greater", new BinaryImporter(Binary.Kind.GREATER)),
            onnx("GreaterOrEqual", new BinaryImporter(Binary.Kind.GREATER_EQUAL)),
            onnx("And", new BinaryImporter(Binary.Kind.LOGICAL_AND)),
            onnx("Or", new BinaryImporter(Binary.Kind.LOGICAL_OR)),
            onnx("Xor", new BinaryImporter(Binary.Kind.NOT_EQUAL)),
            onnx("PRelu", new BinaryImporter(Binary.Kind.PRELU)),
            onnx("Sum", new VariadicImporter(Binary.Kind.ADD, false)),
            onnx("Max", new VariadicImporter(Binary.Kind.MAXIMUM, false)),
            onnx("Min", new VariadicImporter(Binary.Kind.MINIMUM, false)),
            onnx("Mean", new VariadicImporter(Binary.Kind.ADD, true)));

    /** All operators of the family. */
    public static final List<Registration> ALL = Stream.of(
                    UNARY,
                    BINARY,
                    ActivationImporters.ALL,
                    SelectImporters.ALL,
                    FunctionImporters.ALL,
                    ArithmeticImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private ElementwiseImporters() {}
}
