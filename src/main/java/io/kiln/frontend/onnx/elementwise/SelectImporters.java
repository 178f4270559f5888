// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.stream.Stream;

/** Selections, conversions, and operators that change nothing. */
final class SelectImporters {
    private static final int NO_TRAINING_MODE = 7;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Where", SelectImporters::where),
            onnx("Sign", SelectImporters::sign),
            onnx(
                    "IsNaN",
                    n -> n.finish(
                            0, new Expressions(n).binary(Binary.Kind.NOT_EQUAL, n.arg(0), n.arg(0)), ElementType.BOOL)),
            onnx("IsInf", SelectImporters::isInf),
            onnx("Cast", SelectImporters::cast),
            onnx("BitCast", 26, SelectImporters::bits),
            onnx("CastLike", n -> cast(n, n.element(1))),
            onnx("OptionalGetElement", n -> n.finish(n.arg(0))),
            onnx("Identity", n -> n.finish(n.arg(0))),
            onnx("Dropout", SelectImporters::dropout));

    private SelectImporters() {}

    private static void where(NodeContext node) {
        Expressions e = new Expressions(node);
        node.finish(0, e.where(node.arg(0), node.arg(1), node.arg(2)), node.element(1));
    }

    private static void sign(NodeContext node) {
        Expressions e = new Expressions(node);
        DType dtype = e.dtype(node.arg(0));
        if (dtype.isWideUnsigned() || dtype == DType.UINT8) {
            node.finish(e.cast(e.cast(node.arg(0), DType.BOOL), dtype));
            return;
        }
        Arg zero = e.number(0, dtype);
        // NaN is neither above nor below 0.
        Arg rest = dtype.isFloat() ? e.where(e.binary(Binary.Kind.EQUAL, node.arg(0), zero), zero, node.arg(0)) : zero;
        Arg negative = e.where(e.binary(Binary.Kind.LESS, node.arg(0), zero), e.number(-1, dtype), rest);
        node.finish(e.where(e.binary(Binary.Kind.GREATER, node.arg(0), zero), e.number(1, dtype), negative));
    }

    private static void isInf(NodeContext node) {
        Expressions e = new Expressions(node);
        boolean negative = node.attributes().truth("detect_negative", true);
        boolean positive = node.attributes().truth("detect_positive", true);
        Arg data = negative && positive ? e.unary(Unary.Kind.ABS, node.arg(0)) : node.arg(0);
        double infinity = positive ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
        Arg isInf = e.binary(Binary.Kind.EQUAL, data, e.number(infinity, DType.FLOAT32));
        Arg none = e.binary(Binary.Kind.LESS, data, data);
        node.finish(0, negative || positive ? isInf : none, ElementType.BOOL);
    }

    private static void cast(NodeContext node) {
        long code = node.attributes().requiredWhole("to");
        cast(node, ElementType.ofCode((int) code).orElse(ElementType.UNDEFINED));
    }

    /** Elements of float16 and bfloat16 are held in single precision, rounded by a conversion. */
    private static void cast(NodeContext node, ElementType type) {
        node.require(
                type.held().isPresent() && !type.isOfConstants(),
                "it converts to " + type.text(),
                "integers, booleans, or floats of 16 bits or more");
        Expressions e = new Expressions(node);
        node.require(
                !type.isPartOfByte(),
                "it converts to " + type.text() + ", which Kiln holds in 8 bits",
                "a conversion to int8 or uint8");
        Arg value = e.cast(node.arg(0), type.held().orElseThrow());
        node.finish(0, node.element(0) == type ? value : rounded(e, value, type), type);
    }

    /** The same bits as another type of their width. */
    private static void bits(NodeContext node) {
        ElementType from = node.element(0);
        ElementType to =
                ElementType.ofCode((int) node.attributes().requiredWhole("to")).orElse(ElementType.UNDEFINED);
        boolean areWhole = Stream.of(from, to)
                .allMatch(type -> type.held().isPresent()
                        && type != ElementType.BOOL
                        && 8 * type.held().get().bytes() == type.bits());
        boolean areWords = from.bits() == 16 && to.bits() == 16 && !from.isFloat() && !to.isFloat();
        node.require(
                from == to || areWords || (areWhole && from.bits() == to.bits()),
                "it turns the bits of " + from.text() + " into " + to.text(),
                "integers of one width, or float and int32 or uint32");
        Expressions e = new Expressions(node);
        DType held = to.held().orElseThrow();
        Arg value = node.arg(0);
        if (from.isFloat() != to.isFloat()) {
            value = node.emit(
                    new Reinterpret(from.isFloat() ? DType.INT32 : DType.FLOAT32),
                    from.isFloat() ? value : e.cast(value, DType.INT32));
        }
        node.finish(0, WiderElements.narrow(e, e.cast(value, held), to), to);
    }

    private static Arg rounded(Expressions e, Arg value, ElementType type) {
        return switch (type) {
            case FLOAT16 -> e.unary(Unary.Kind.ROUND_FLOAT16, value);
            case BFLOAT16 -> e.unary(Unary.Kind.ROUND_BFLOAT16, value);
            default -> WiderElements.narrow(e, value, type);
        };
    }

    /** In inference the data itself; the mask is true everywhere. */
    private static void dropout(NodeContext node) {
        Expressions e = new Expressions(node);
        if (node.has(2)) {
            boolean trains = node.constant(2, "training_mode").integer(0) != 0;
            boolean drops = !node.has(1) || node.constant(1, "ratio").real(0) != 0;
            node.require(!trains || !drops, "it drops elements at random", "a model exported for inference");
        }
        node.require(
                node.version() >= NO_TRAINING_MODE || node.attributes().truth("is_test", false),
                "it drops elements at random",
                "is_test=1, as in a model exported for inference");
        node.finish(node.arg(0));
        if (node.hasOutput(1)) {
            node.finish(1, e.broadcast(e.number(1, DType.BOOL), node.shape(0)), ElementType.BOOL);
        }
    }
}
