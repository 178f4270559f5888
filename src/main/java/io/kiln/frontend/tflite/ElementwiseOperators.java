// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.SupportedOperators.Support;
import io.kiln.ir.op.Binary;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.TflSigmoid16;
import io.kiln.ir.op.Unary;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Element-wise operators by their codes, with the element types that the reference kernels of TensorFlow Lite Micro take. */
final class ElementwiseOperators {
    private static final int ADD_OPTIONS = 11;
    private static final int MUL_OPTIONS = 21;
    private static final int SUB_OPTIONS = 28;
    private static final int DIV_OPTIONS = 29;

    static final Map<Integer, Support> ALL = all();

    private final Map<Integer, Support> all = new HashMap<>();

    private ElementwiseOperators() {}

    private static Map<Integer, Support> all() {
        ElementwiseOperators operators = new ElementwiseOperators();
        operators.addUnary();
        operators.addActivations();
        operators.addArithmetic();
        operators.addComparisons();
        operators.addOthers();
        return Map.copyOf(operators.all);
    }

    private void add(String name, int maxVersion, OperatorImporter importer) {
        all.put(BuiltinNames.code(name), new Support(importer, maxVersion));
    }

    private void addUnary() {
        add("SQRT", 2, new UnaryImporter(Unary.Kind.SQRT, FLOAT32));
        add("EXP", 2, new UnaryImporter(Unary.Kind.EXP, FLOAT32));
        add("LOG", 2, new UnaryImporter(Unary.Kind.LOG, FLOAT32));
        add("SIN", 1, new UnaryImporter(Unary.Kind.SIN, FLOAT32));
        add("COS", 1, new UnaryImporter(Unary.Kind.COS, FLOAT32));
        add("NEG", 1, new UnaryImporter(Unary.Kind.NEGATIVE, FLOAT32));
        add("CEIL", 1, new UnaryImporter(Unary.Kind.CEIL, FLOAT32));
        add("FLOOR", 1, new UnaryImporter(Unary.Kind.FLOOR, FLOAT32));
        add("ROUND", 1, new UnaryImporter(Unary.Kind.ROUND, FLOAT32));
        add("LOGICAL_NOT", 1, new UnaryImporter(Unary.Kind.LOGICAL_NOT, BOOL));
        add("SQUARE", 1, new SquareImporter());
        add("CAST", 6, new CastImporter());
    }

    private void addActivations() {
        add("RELU", 3, new ReluImporter(false));
        add("RELU6", 3, new ReluImporter(true));
        add("LEAKY_RELU", 2, new LeakyReluImporter());
        add("ABS", 5, new AbsImporter());
        add("LOGISTIC", 3, new SigmoidImporter(TflSigmoid16.Kind.LOGISTIC));
        add("TANH", 3, new SigmoidImporter(TflSigmoid16.Kind.TANH));
        add("ELU", 1, TableImporter.ELU);
        add("HARD_SWISH", 1, TableImporter.HARD_SWISH);
        add("RSQRT", 3, TableImporter.RSQRT);
    }

    private void addArithmetic() {
        Set<DType> quantizable = Set.of(FLOAT32, INT8, INT16, INT32);
        add("ADD", 5, new BinaryImporter(Binary.Kind.ADD, Set.of(FLOAT32, INT8, INT16, INT32, INT64), ADD_OPTIONS));
        add("SUB", 5, new BinaryImporter(Binary.Kind.SUBTRACT, quantizable, SUB_OPTIONS));
        add("MUL", 8, new BinaryImporter(Binary.Kind.MULTIPLY, quantizable, MUL_OPTIONS));
        add("DIV", 3, new BinaryImporter(Binary.Kind.DIVIDE, Set.of(FLOAT32, INT8, INT32), DIV_OPTIONS));
        add("SQUARED_DIFFERENCE", 3, new BinaryImporter(Binary.Kind.SQUARED_DIFFERENCE, quantizable));
        add("FLOOR_DIV", 3, new BinaryImporter(Binary.Kind.FLOOR_DIVIDE, Set.of(FLOAT32)));
        add("FLOOR_MOD", 2, new BinaryImporter(Binary.Kind.FLOOR_MOD, Set.of(FLOAT32)));
        add("LOGICAL_AND", 1, new BinaryImporter(Binary.Kind.LOGICAL_AND, Set.of(BOOL)));
        add("LOGICAL_OR", 1, new BinaryImporter(Binary.Kind.LOGICAL_OR, Set.of(BOOL)));
        Set<DType> ordered = Set.of(FLOAT32, INT8, INT16, INT32, INT64);
        add("MAXIMUM", 5, new BinaryImporter(Binary.Kind.MAXIMUM, ordered));
        add("MINIMUM", 5, new BinaryImporter(Binary.Kind.MINIMUM, ordered));
        add("PRELU", 2, new PreluImporter());
        add("ADD_N", 1, new AddNImporter());
    }

    private void addComparisons() {
        Set<DType> equal = Set.of(FLOAT32, INT8, INT32, INT64, BOOL);
        Set<DType> ordered = Set.of(FLOAT32, INT8, INT32, INT64);
        add("EQUAL", 4, new ComparisonImporter(Binary.Kind.EQUAL, QnnBinary.Kind.EQUAL, equal));
        add("NOT_EQUAL", 3, new ComparisonImporter(Binary.Kind.NOT_EQUAL, QnnBinary.Kind.NOT_EQUAL, equal));
        add("LESS", 3, new ComparisonImporter(Binary.Kind.LESS, QnnBinary.Kind.LESS, ordered));
        add("LESS_EQUAL", 2, new ComparisonImporter(Binary.Kind.LESS_EQUAL, QnnBinary.Kind.LESS_EQUAL, ordered));
        add(
                "GREATER",
                2,
                new ComparisonImporter(
                        Binary.Kind.GREATER, QnnBinary.Kind.GREATER, Set.of(FLOAT32, INT8, INT16, INT32, INT64)));
        add(
                "GREATER_EQUAL",
                3,
                new ComparisonImporter(Binary.Kind.GREATER_EQUAL, QnnBinary.Kind.GREATER_EQUAL, ordered));
    }

    private void addOthers() {
        add("SELECT", 3, new SelectImporter(true));
        add("SELECT_V2", 2, new SelectImporter(false));
        add("FILL", 4, new FillImporter());
        add("ZEROS_LIKE", 1, new ZerosImporter());
        add("QUANTIZE", 4, new QuantizeImporter());
        add("DEQUANTIZE", 6, new DequantizeImporter());
    }
}
