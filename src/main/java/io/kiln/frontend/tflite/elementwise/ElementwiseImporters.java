// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ABS;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ADD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ADD_N;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ATAN2;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BITWISE_XOR;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.CAST;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.CEIL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.COS;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.DEQUANTIZE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.DIV;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ELU;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.EQUAL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.EXP;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FLOOR;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FLOOR_DIV;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FLOOR_MOD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.GELU;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.GREATER;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.GREATER_EQUAL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.HARD_SWISH;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LEAKY_RELU;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LESS;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LESS_EQUAL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOG;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOGICAL_AND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOGICAL_NOT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOGICAL_OR;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.LOGISTIC;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MAXIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MINIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MUL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.NEG;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.NOT_EQUAL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.POW;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.PRELU;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.QUANTIZE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RELU;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RELU6;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RELU_0_TO_1;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RELU_N1_TO_1;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RIGHT_SHIFT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ROUND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RSQRT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SELECT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SELECT_V2;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SIGN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SIN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SQRT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SQUARE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SQUARED_DIFFERENCE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SUB;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.TANH;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.Field;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Add;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Div;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Mul;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Sub;
import io.kiln.frontend.tflite.schema.OptionsType;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Element-wise operators, with the element types supported by TensorFlow Lite Micro's reference kernels. */
public final class ElementwiseImporters {
    private static final Set<DType> QUANTIZABLE = Set.of(FLOAT32, INT8, INT16, INT32);
    private static final Set<DType> NUMBERS = Set.of(FLOAT32, INT8, INT16, INT32, INT64);
    private static final Set<DType> ORDERED = Set.of(FLOAT32, INT8, INT32, INT64);
    private static final Set<DType> EQUATABLE = Set.of(FLOAT32, INT8, INT32, INT64, BOOL);

    public static final List<Registration> ALL = List.of(
            builtin(SQRT, 2, FunctionImporter::squareRoot),
            builtin(EXP, 2, FunctionImporter.EXP),
            builtin(LOG, 2, FunctionImporter.LOG),
            builtin(GELU, 2, FunctionImporter::gelu).uint8AsInt8(),
            builtin(SIN, 1, new UnaryImporter(Unary.Kind.SIN, FLOAT32)),
            builtin(COS, 1, new UnaryImporter(Unary.Kind.COS, FLOAT32)),
            builtin(NEG, 2, NumberImporters::negative),
            builtin(SIGN, 2, NumberImporters::sign),
            builtin(POW, 2, NumberImporters::power),
            builtin(ATAN2, 1, NumberImporters::angle),
            builtin(BITWISE_XOR, 1, operator -> NumberImporters.bits(operator, Binary.Kind.BITWISE_XOR)),
            builtin(RIGHT_SHIFT, 1, operator -> NumberImporters.bits(operator, Binary.Kind.RIGHT_SHIFT)),
            builtin(CEIL, 1, new UnaryImporter(Unary.Kind.CEIL, FLOAT32)),
            builtin(FLOOR, 1, new UnaryImporter(Unary.Kind.FLOOR, FLOAT32)),
            builtin(ROUND, 1, new UnaryImporter(Unary.Kind.ROUND, FLOAT32)),
            builtin(LOGICAL_NOT, 1, new UnaryImporter(Unary.Kind.LOGICAL_NOT, BOOL)),
            builtin(SQUARE, 1, new SquareImporter()),
            builtin(CAST, 6, NumberImporters::cast),
            builtin(RELU, 3, new ReluImporter(Activation.RELU)).uint8AsInt8(),
            builtin(RELU6, 3, new ReluImporter(Activation.RELU6)).uint8AsInt8(),
            builtin(RELU_N1_TO_1, 2, new ReluImporter(Activation.RELU_N1_TO_1)).uint8AsInt8(),
            builtin(RELU_0_TO_1, 2, new ReluImporter(Activation.RELU_0_TO_1)).uint8AsInt8(),
            builtin(LEAKY_RELU, 2, new LeakyReluImporter()).uint8AsInt8(),
            builtin(ABS, 5, new AbsImporter()),
            builtin(LOGISTIC, 3, new SigmoidImporter(TflSigmoid16.Kind.LOGISTIC))
                    .uint8AsInt8(),
            builtin(TANH, 3, new SigmoidImporter(TflSigmoid16.Kind.TANH)).uint8AsInt8(),
            builtin(ELU, 1, TableImporter.ELU),
            builtin(HARD_SWISH, 1, TableImporter.HARD_SWISH).uint8AsInt8(),
            builtin(RSQRT, 3, FunctionImporter.RSQRT),
            fused(ADD, 5, Binary.Kind.ADD, NUMBERS, Add.TYPE, Add.FUSED_ACTIVATION_FUNCTION)
                    .uint8AsInt8(),
            fused(SUB, 5, Binary.Kind.SUBTRACT, QUANTIZABLE, Sub.TYPE, Sub.FUSED_ACTIVATION_FUNCTION)
                    .uint8AsInt8(),
            fused(MUL, 8, Binary.Kind.MULTIPLY, QUANTIZABLE, Mul.TYPE, Mul.FUSED_ACTIVATION_FUNCTION)
                    .uint8AsInt8(),
            fused(DIV, 3, Binary.Kind.DIVIDE, Set.of(FLOAT32, INT8, INT32), Div.TYPE, Div.FUSED_ACTIVATION_FUNCTION)
                    .uint8AsInt8(),
            binary(SQUARED_DIFFERENCE, 3, Binary.Kind.SQUARED_DIFFERENCE, QUANTIZABLE),
            binary(FLOOR_DIV, 3, Binary.Kind.FLOOR_DIVIDE, Set.of(FLOAT32)),
            binary(FLOOR_MOD, 2, Binary.Kind.FLOOR_MOD, Set.of(FLOAT32)),
            binary(LOGICAL_AND, 1, Binary.Kind.LOGICAL_AND, Set.of(BOOL)),
            binary(LOGICAL_OR, 1, Binary.Kind.LOGICAL_OR, Set.of(BOOL)),
            binary(MAXIMUM, 5, Binary.Kind.MAXIMUM, NUMBERS).uint8AsInt8(),
            binary(MINIMUM, 5, Binary.Kind.MINIMUM, NUMBERS).uint8AsInt8(),
            builtin(PRELU, 2, new PreluImporter()).uint8AsInt8(),
            builtin(ADD_N, 1, new AddNImporter()),
            comparison(EQUAL, 4, Binary.Kind.EQUAL, QnnBinary.Kind.EQUAL, EQUATABLE),
            comparison(NOT_EQUAL, 3, Binary.Kind.NOT_EQUAL, QnnBinary.Kind.NOT_EQUAL, EQUATABLE),
            comparison(LESS, 3, Binary.Kind.LESS, QnnBinary.Kind.LESS, ORDERED),
            comparison(LESS_EQUAL, 2, Binary.Kind.LESS_EQUAL, QnnBinary.Kind.LESS_EQUAL, ORDERED),
            comparison(GREATER, 2, Binary.Kind.GREATER, QnnBinary.Kind.GREATER, NUMBERS),
            comparison(GREATER_EQUAL, 3, Binary.Kind.GREATER_EQUAL, QnnBinary.Kind.GREATER_EQUAL, ORDERED),
            builtin(SELECT, 3, new SelectImporter(true)).uint8AsInt8(),
            builtin(SELECT_V2, 2, new SelectImporter(false)).uint8AsInt8(),
            builtin(QUANTIZE, 4, new QuantizeImporter()).uint8AsHeld(),
            builtin(DEQUANTIZE, 6, new DequantizeImporter()).uint8AsHeld());

    private ElementwiseImporters() {}

    private static Registration binary(BuiltinOperator operator, int maxVersion, Binary.Kind kind, Set<DType> dtypes) {
        return builtin(operator, maxVersion, new BinaryImporter(kind, dtypes, Optional.empty()));
    }

    /** An operator with a fused activation in its options. */
    private static Registration fused(
            BuiltinOperator operator,
            int maxVersion,
            Binary.Kind kind,
            Set<DType> dtypes,
            OptionsType options,
            Field.UByte activation) {
        BinaryImporter.Fused fused = new BinaryImporter.Fused(options, activation);
        return builtin(operator, maxVersion, new BinaryImporter(kind, dtypes, Optional.of(fused)));
    }

    private static Registration comparison(
            BuiltinOperator operator, int maxVersion, Binary.Kind kind, QnnBinary.Kind quantized, Set<DType> dtypes) {
        return builtin(operator, maxVersion, new ComparisonImporter(kind, quantized, dtypes))
                .uint8AsInt8();
    }

    /** SQUARE of float32: the product of the tensor with itself. */
    private static final class SquareImporter implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            OperandTypes.require(operator, Set.of(DType.FLOAT32), data, operator.output());
            operator.check();
            Arg value = operator.value(data);
            operator.finish(operator.emit(new Binary(Binary.Kind.MULTIPLY), value, value));
        }
    }

    /** Element-wise functions of one type. */
    private record UnaryImporter(Unary.Kind kind, DType dtype) implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            OperandTypes.require(operator, Set.of(dtype), data, operator.output());
            operator.check();
            operator.finish(operator.emit(new Unary(kind), operator.value(data)));
        }
    }
}
