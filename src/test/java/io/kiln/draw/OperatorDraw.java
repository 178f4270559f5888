// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Operators;
import io.kiln.ir.legality.Legality;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Draws calls of operators that move, combine, reduce or convert elements from their {@linkplain Signature signatures}: element types,
 * numbers of operands and attributes are what the signature states; shapes, broadcasting and constants are drawn here, once for all
 * operators. What the signature or {@link Legality} refuses is drawn again. A limit and a rescaling follow where the signature takes them.
 */
public final class OperatorDraw {
    /** Of these, one fits for each element type that an operator takes. */
    private static final int ATTEMPTS = 150;

    private static final int MOST_ATTEMPTS = 20_000;

    private static final int TABLE_OF_BYTES = 256;
    private static final int TABLE_OF_SHORTS = 513;

    private static final Set<String> MOVEMENTS = Set.of(
            "broadcast_to",
            "concatenate",
            "image.resize2d",
            "nn.pad",
            "scatter_nd",
            "strided_slice",
            "take",
            "tfl.cumsum",
            "tfl.dynamic_update_slice",
            "topk",
            "transpose");

    /** Beside those that compute each element from others at its place. */
    private static final Set<String> OTHERS = Set.of(
            "argmax",
            "argmin",
            "copy",
            "fixed_point_multiply",
            "full",
            "max",
            "mean",
            "min",
            "nn.avg_pool2d",
            "nn.max_pool2d",
            "nn.softmax",
            "onnx.avg_pool2d",
            "onnx.pair_lookup",
            "onnx.requantize",
            "onnx.softmax",
            "prod",
            "reshape",
            "sum",
            "tfl.l2_normalize",
            "tfl.log_softmax",
            "tfl.lookup",
            "tfl.lookup16",
            "tfl.product",
            "tfl.requantize_real",
            "tfl.softmax",
            "tfl.sum");

    /** What is drawn: an operator on data of an element type. */
    record Kind(Signature<? extends Op> signature, DType dtype) {}

    /** Operators that move elements, find them by an index, or sum along a dimension. */
    static final List<Kind> MOVING = kinds(s -> MOVEMENTS.contains(s.name()));

    /** Operators that compute an element from few others: those at its place, in its row or window, or along some dimensions. */
    static final List<Kind> COMPUTING = kinds(s -> s.traits().contains(Trait.ELEMENTWISE) || OTHERS.contains(s.name()));

    static final List<Kind> NORMALIZING =
            kinds(s -> s.name().endsWith("softmax") || s.name().endsWith("normalize"));

    static final List<Kind> CONVERTING =
            kinds(s -> Set.of("qnn.dequantize", "qnn.quantize", "qnn.requantize", "tfl.requantize")
                    .contains(s.name()));

    static final List<Kind> SUMMING = kinds(
            s -> Set.of("add", "multiply", "qnn.add", "qnn.mul", "qnn.subtract").contains(s.name()));

    /** Operators of which attributes, constants and forms of operands make the most kinds, and those that move elements. */
    static final List<Kind> VARIED = Stream.concat(
                    kinds(s -> Set.of(
                                            "add",
                                            "qnn.add",
                                            "qnn.subtract",
                                            "tfl.leaky_relu",
                                            "tfl.requantize",
                                            "tfl.softmax",
                                            "qnn.quantize",
                                            "qnn.dequantize")
                                    .contains(s.name()))
                            .stream(),
                    MOVING.stream())
            .toList();

    /** All of them. */
    static final List<Kind> ALL =
            Stream.concat(MOVING.stream(), COMPUTING.stream()).toList();

    private final FunctionDraw draw;
    private final Signature<? extends Op> signature;
    private final DType dtype;
    private final Shape shape;
    private Optional<Constant> last = Optional.empty();

    private OperatorDraw(FunctionDraw draw, Signature<? extends Op> signature, DType dtype) {
        this.draw = draw;
        this.signature = signature;
        this.dtype = dtype;
        this.shape = isOf("pool2d", "resize2d", "qnn.add", "qnn.subtract", "tfl.leaky_relu")
                ? draw.image()
                : isOf("softmax", "normalize") ? draw.rows() : draw.shape();
    }

    private static List<Kind> kinds(Predicate<Signature<? extends Op>> isDrawn) {
        return Operators.ALL.stream()
                .filter(isDrawn)
                .flatMap(signature -> types(signature).stream().map(dtype -> new Kind(signature, dtype)))
                // RandomOperators draws these.
                .filter(kind -> kind.dtype() != DType.INT32 || !kind.signature().equals(AvgPool2d.SIGNATURE))
                .filter(kind ->
                        drawn(new FunctionDraw(0), "any", kind, ATTEMPTS).isPresent())
                .toList();
    }

    /** A function of one operator of a list, which take turns with the number. */
    static Function inTurn(long number, FunctionDraw draw, String name, List<Kind> kinds) {
        return drawn(draw, name, kinds.get((int) (number % kinds.size())), MOST_ATTEMPTS)
                .orElseThrow();
    }

    /** A function of an operator on data of an element type. */
    static Function of(FunctionDraw draw, String name, Signature<? extends Op> signature, DType dtype) {
        return drawn(draw, name, new Kind(signature, dtype), MOST_ATTEMPTS).orElseThrow();
    }

    private static Optional<Function> drawn(FunctionDraw draw, String name, Kind kind, int attempts) {
        for (int i = 0; i < attempts; i++) {
            try {
                draw.clear();
                new OperatorDraw(draw, kind.signature(), kind.dtype()).bind();
                Function function = draw.function(name);
                if (Legality.violations(function).isEmpty()) {
                    return Optional.of(function);
                }
            } catch (IllegalArgumentException refused) {
                // The next draw may fit.
            }
        }
        return Optional.empty();
    }

    /** Element types of the data that the signature states. */
    private static List<DType> types(Signature<? extends Op> signature) {
        Set<DType> stated = signature.dataTypes();
        return stated.isEmpty()
                ? List.of(DType.values())
                : stated.stream().sorted().toList();
    }

    private boolean isOf(String... parts) {
        return List.of(parts).stream().anyMatch(signature.name()::contains);
    }

    private void bind() {
        Op op = signature.name().equals("concatenate")
                ? new Concatenate(draw.below(shape.rank()), 2 + draw.below(3))
                : signature.reader().orElseThrow().apply(new DrawnAttributes(draw, shape, dtype));
        Arg.Ref result = draw.bind(op, arguments(op));
        TensorType type = draw.type(result);
        if (op.has(Trait.ACCUMULATES) && type.dtype() == DType.INT32 && dtype != DType.INT32) {
            result = draw.bind(
                    new TflRequantize(-1, 0, dtype == DType.INT8 ? draw.below(256) - 128 : 0, dtype),
                    result,
                    draw.multiplier(),
                    Constant.scalar(-draw.below(9)));
        }
        if (op.has(Trait.TAKES_CLIP)
                && (type.dtype().isFloat() || type.dtype() == DType.INT8 || type.dtype() == DType.INT16)) {
            draw.clip(result, !type.dtype().isFloat());
        }
    }

    private Arg[] arguments(Op op) {
        List<Operand<?>> operands = new ArrayList<>();
        for (Operand<?> operand : signature.operands()) {
            int times = operand.number().fixed().orElse(op.arity());
            IntStream.range(0, times).forEach(i -> operands.add(operand));
        }
        int tensors = (int) operands.stream().filter(o -> o.role() == Role.DATA).count();
        int whole = op.has(Trait.ELEMENTWISE) && draw.below(3) == 0 ? draw.below(tensors) : 0;
        DType rest = signature.name().equals("where") ? draw.oneOf(List.of(DType.values())) : dtype;
        List<Arg> args = new ArrayList<>();
        for (Operand<?> operand : operands) {
            int i = args.size();
            if (operand.role() == Role.DATA) {
                DType own = i == 0
                        ? dtype
                        : operand.types().isEmpty()
                                ? rest
                                : draw.oneOf(operand.types().stream().sorted().toList());
                Shape form = form(op, operand.name(), i, whole);
                args.add(data(new TensorType(form, own), i, args, tensors == 2));
            } else {
                args.add(constant(operand));
            }
        }
        return args.toArray(Arg[]::new);
    }

    /** An input, a constant if another operand is an input, or the first operand again. */
    private Arg data(TensorType type, int position, List<Arg> args, boolean isPair) {
        int kind = draw.below(5);
        if (position == 0) {
            return isPair && kind == 0 && isOf("add", "sub", "mul", "max", "min")
                    ? draw.constant(type)
                    : draw.parameter(type);
        }
        boolean isFirstKnown = args.get(0) instanceof Constant;
        boolean isAgain = kind == 0 && draw.type(args.get(0)).equals(type);
        return isFirstKnown
                ? draw.parameter(type)
                : isAgain ? args.get(0) : kind < 3 ? draw.constant(type) : draw.parameter(type);
    }

    /** The shape of a tensor. */
    private Shape form(Op op, String operand, int position, int whole) {
        String name = signature.name();
        if (name.equals("concatenate")) {
            int axis = ((Concatenate) op).axis();
            return position == 0 ? shape : draw.with(shape, axis, 1 + draw.below(5));
        }
        if (name.equals("scatter_nd")) {
            return scattered(position);
        }
        return switch (operand) {
            case "fill value" -> Shape.scalar();
            case "indices" ->
                draw.below(3) == 0 ? Shape.of(1 + draw.below(2), 1 + draw.below(4)) : Shape.of(1 + draw.below(5));
            case "update" ->
                new Shape(
                        shape.dims().stream().map(size -> 1 + draw.below(size)).toList());
            case "start" -> Shape.of(shape.rank());
            default -> {
                boolean isPart = name.equals("broadcast_to") || (position != whole && !name.equals("tfl.add_n"));
                yield isPart ? draw.broadcastable(shape) : shape;
            }
        };
    }

    /** Rows that are replaced or combined. */
    private Shape scattered(int position) {
        int rows = shape.dim(0);
        int width = shape.dim(-1);
        int updates = shape.rank() % 2 == 0 ? rows : 1 + shape.rank();
        return position == 0 ? Shape.of(rows, width) : position == 1 ? Shape.of(1, updates) : Shape.of(updates, width);
    }

    private Arg constant(Operand<?> operand) {
        String name = operand.name();
        boolean isFloat = operand.types().equals(Set.of(DType.FLOAT32));
        if (name.contains("table")) {
            return table(operand.types());
        }
        if (name.equals("multiplier")) {
            return perhapsOfChannels(draw.multiplier());
        }
        if (name.equals("shift")) {
            return perhapsOfChannels(Constant.scalar(draw.below(5) == 0 ? draw.below(4) : -draw.below(12)));
        }
        if (isFloat && name.equals("bias")) {
            Constant bias = Constant.scalar(draw.below(2) * draw.scale().real(0));
            return isOf("onnx") ? draw.repeated(bias, shape.dim(-1)) : bias;
        }
        if (isFloat) {
            return name.equals("output scale") && isOf("softmax")
                    ? Constant.scalar(1f / 256)
                    : perhapsOfChannels(scale());
        }
        return operand.types().isEmpty()
                ? draw.constant(new TensorType(Shape.scalar(), dtype))
                : Constant.scalar(
                        isOf("softmax") && name.startsWith("output")
                                ? -128
                                : isQuantized() ? draw.zeroPoint(dtype) : 0);
    }

    /** Sums of other data have no zero point. */
    private boolean isQuantized() {
        return !isOf("cumsum") || dtype == DType.INT8;
    }

    /** Every fourth time that of the tensor before. */
    private Constant scale() {
        last = last.isPresent() && draw.below(4) == 0 ? last : Optional.of(draw.scale());
        return last.get();
    }

    private Constant table(Set<DType> types) {
        if (signature.name().equals("onnx.pair_lookup")) {
            return draw.constant(new TensorType(Shape.of(TABLE_OF_BYTES, TABLE_OF_BYTES), DType.INT8));
        }
        boolean isOfBytes = dtype == DType.INT8;
        DType of = types.isEmpty()
                ? draw.oneOf(List.of(DType.INT8, DType.INT16, DType.UINT8))
                : types.iterator().next();
        return draw.constant(new TensorType(Shape.of(isOfBytes ? TABLE_OF_BYTES : TABLE_OF_SHORTS), of));
    }

    /** One number, or one for each channel where the signature has these. */
    private Constant perhapsOfChannels(Constant one) {
        boolean mayHaveSeveral = isOf("requantize") && shape.rank() > 0 && draw.below(3) == 0;
        return mayHaveSeveral ? draw.repeated(one, shape.dim(-1)) : one;
    }
}
