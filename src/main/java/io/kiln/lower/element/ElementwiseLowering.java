// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import io.kiln.tir.UnusedScalars.InvariantScalars;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Operators that compute each element from the corresponding elements: sums with broadcasting, conversions, rescaling,
 * clips, copies. Operands of the output's shape are read in one flat loop, others dimension by dimension.
 */
public final class ElementwiseLowering extends RootLowering {
    /** The operators that {@link ElementFunctions} supports. */
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = ElementFunctions.ALL.keySet().stream()
            .map(ElementwiseLowering::entry)
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    /** Elements of an iteration where a function is to be unrolled. */
    private static final int UNROLLED = 4;

    private static final int LEAST_PIXELS = 8;

    private final ElementStyle style;
    private final List<Operand> operands = new ArrayList<>();
    private final Epilogue epilogue;
    private final ElementFunction function;
    private final Shape out;

    /**
     * An operand of the loops.
     *
     * @param elements its buffer; empty for a literal
     * @param shape its dimensions
     * @param literal the only element, if it is known
     */
    private record Operand(Optional<Buffer> elements, Shape shape, Optional<Expr> literal) {
        static Operand of(FusedOperator op, int argument, OperatorBuffers buffers) {
            Shape shape = op.rootTypes().get(argument).shape();
            Optional<Expr> literal =
                    op.root().args().get(argument) instanceof Constant constant ? literal(constant) : Optional.empty();
            return new Operand(
                    literal.isPresent() ? Optional.empty() : Optional.of(buffers.argument(argument)), shape, literal);
        }

        private static Optional<Expr> literal(Constant constant) {
            DType dtype = constant.type().dtype();
            if (constant.elements() != 1 || (dtype.isFloat() && !Float.isFinite(constant.real(0)))) {
                return Optional.empty();
            }
            if (dtype.isFloat()) {
                return Optional.of(imm(constant.real(0)));
            }
            boolean narrow = dtype == DType.BOOL || dtype.bytes() < Integer.BYTES;
            return Optional.of(imm(constant.integer(0), narrow ? DType.INT32 : dtype));
        }

        boolean isScalar() {
            return shape.elements() == 1;
        }

        Expr at(Expr index) {
            return literal.orElseGet(() -> load(elements.orElseThrow(), isScalar() ? imm(0) : index));
        }
    }

    /**
     * Lowers an operator.
     *
     * @param style what its loop may be like
     */
    ElementwiseLowering(FusedOperator op, ElementStyle style) {
        super(op);
        this.style = style;
        this.out = op.type().shape();
        for (int i = 0; i < op.root().op().operands(); i++) {
            operands.add(Operand.of(op, i, buffers));
        }
        this.epilogue = new Epilogue(op, bound(op.rootTypes().get(0).dtype()), buffers.tables());
        this.function = ElementFunctions.of(op, buffers.tables(), style);
    }

    private static Map.Entry<Class<? extends Op>, OperatorLowering<Op>> entry(Class<? extends Op> root) {
        return Map.entry(root, (op, any, rows, context) -> new ElementwiseLowering(op, context.elements()).lower(rows));
    }

    /** Largest difference between elements. */
    private static long bound(DType dtype) {
        return dtype.isInteger() && dtype.bytes() < Integer.BYTES ? dtype.max() - dtype.min() : Integer.MAX_VALUE;
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        boolean flat = operands.stream().allMatch(o -> o.isScalar() || o.shape().elements() == out.elements());
        long row = out.elements() / Rows.count(out);
        if (flat && !rows.areContiguous()) {
            body.loop("y", rows.begin(), rows.end(), (line, y) -> byRow(line, rows, y, row));
        } else if (flat) {
            int step = step(row);
            body.loop(
                    "i",
                    mul(rows.begin(), row),
                    mul(rows.end(), row),
                    step,
                    (elements, i) -> unrolled(elements, step, i, this::flat));
        } else if (rows.areContiguous() && isByChannel()) {
            byChannel(body, mul(rows.begin(), row), mul(rows.end(), row));
        } else {
            nested(body, rows);
        }
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            dependencies.add(Nests.elementwise(op.rootTypes().get(argument).shape(), out));
        }
        return Nests.operator(buffers, rows, dependencies, body.build(), schedule(flat));
    }

    /**
     * An element of the output.
     *
     * @param values the operands'
     * @param place index that equals the channel modulo the number of channels
     * @param index in the output's buffer
     */
    private record Element(List<Expr> values, Expr place, Expr index) {}

    /** Elements of an iteration in rows of a length. Compilers do not mix what comes after a limit with a branch. */
    private int step(long row) {
        boolean isMixed = isStored() || style.saturates() || op.requantization().isEmpty();
        return style.isUnrolled() && function.isArithmetic() && isMixed && row % UNROLLED == 0 ? UNROLLED : 1;
    }

    private void unrolled(BlockBuilder block, int step, Expr index, Function<Expr, Element> at) {
        if (step > 1 && !isStored() && !style.saturates()) {
            together(block, step, index, at);
        } else {
            for (int k = 0; k < step; k++) {
                BlockBuilder one = new BlockBuilder();
                element(one, at.apply(add(index, k)));
                block.add(one.build());
            }
        }
    }

    /**
     * Emits several elements with all values before the first limit. Limits have branches, and compilers interleave only what is
     * between two of them.
     */
    private void together(BlockBuilder block, int step, Expr index, Function<Expr, Element> at) {
        List<Expr> sums = new ArrayList<>();
        for (int k = 0; k < step; k++) {
            Expr.Var sum = block.mutable("sum" + k, imm(0));
            BlockBuilder one = new BlockBuilder();
            one.assign(sum, function.body().emit(one, at.apply(add(index, k)).values));
            block.add(one.build());
            sums.add(sum);
        }
        for (int k = 0; k < step; k++) {
            store(block, "_out" + k, sums.get(k), at.apply(add(index, k)));
        }
    }

    private Element flat(Expr index) {
        return new Element(operands.stream().map(o -> o.at(index)).toList(), index, index);
    }

    private String schedule(boolean flat) {
        return (flat ? "flat" : "broadcast") + function.variant();
    }

    /** Emits one row of elements, with operands of the same shape, at any position in each buffer. */
    private void byRow(BlockBuilder block, Rows rows, Expr y, long elements) {
        List<Expr> starts = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            starts.add(operands.get(i).isScalar() ? imm(0) : block.let("start" + i, mul(line(rows, i, y), elements)));
        }
        Expr start = block.let("start", mul(rows.outputLine(y), elements));
        int step = step(elements);
        block.loop(
                "i",
                imm(0),
                imm(elements),
                step,
                (inner, first) -> unrolled(inner, step, first, i -> {
                    List<Expr> values = new ArrayList<>();
                    for (int k = 0; k < operands.size(); k++) {
                        values.add(operands.get(k).at(add(starts.get(k), i)));
                    }
                    return new Element(values, i, add(start, i));
                }));
    }

    /** Line of a row in an operand; constants hold all rows. */
    private Expr line(Rows rows, int operand, Expr row) {
        return op.root().args().get(operand) instanceof Arg.Ref ref
                ? rows.inputLine(op.inputs().indexOf(ref.id()), row)
                : row;
    }

    /** Whether each other operand has one element for each channel, and there are pixels enough to go through them channel by channel. */
    private boolean isByChannel() {
        return function.isArithmetic()
                && out.rank() > 0
                && out.elements() >= (long) LEAST_PIXELS * out.dim(-1)
                && operands.stream().allMatch(o -> o.isScalar() || isWhole(o) || isPerChannel(o));
    }

    private boolean isWhole(Operand operand) {
        return operand.shape().elements() == out.elements();
    }

    private boolean isPerChannel(Operand operand) {
        return operand.shape().rank() > 0
                && operand.shape().elements() == out.dim(-1)
                && operand.shape().dim(-1) == out.dim(-1);
    }

    /** Loops channel by channel over all pixels, so that what depends on the channel only is computed once. */
    private void byChannel(BlockBuilder block, Expr begin, Expr end) {
        int channels = out.dim(-1);
        block.loop("c", channels, (channel, c) -> {
            Expr.Var i = Exprs.var("i");
            BlockBuilder pixel = new BlockBuilder();
            Expr index = add(i, c);
            List<Expr> values =
                    operands.stream().map(o -> o.at(isWhole(o) ? index : c)).toList();
            element(pixel, new Element(values, c, index));
            InvariantScalars scalars = InvariantScalars.of(pixel.build(), i);
            scalars.before().forEach(channel::add);
            channel.add(new Stmt.For(i, begin, end, channels, scalars.inside()));
        });
    }

    private void nested(BlockBuilder block, Rows rows) {
        ElementLoops.over(block, out, rows, (element, indices, position) -> {
            List<Expr> values = new ArrayList<>();
            for (int i = 0; i < operands.size(); i++) {
                List<Expr> own = new ArrayList<>(indices);
                Shape shape = operands.get(i).shape();
                if (shape.equals(out) && Rows.count(out) > 1) {
                    own.set(1, line(rows, i, indices.get(1)));
                }
                values.add(operands.get(i).at(ElementLoops.position(shape, own)));
            }
            Expr channel = indices.isEmpty() ? imm(0) : indices.get(out.rank() - 1);
            element(element, new Element(values, channel, position));
        });
    }

    private void element(BlockBuilder block, Element at) {
        Expr value = function.body().emit(block, at.values);
        if (isStored()) {
            block.store(buffers.output(), at.index, value);
        } else {
            store(block, "_out", wraps() ? Exprs.cast(op.sumType(), value) : value, at);
        }
    }

    /** Whether storing the value would wrap it around, which must happen before it is limited or rescaled. */
    private boolean wraps() {
        boolean isArithmetic = op.root().op() instanceof Binary binary
                && Set.of(Binary.Kind.ADD, Binary.Kind.SUBTRACT, Binary.Kind.MULTIPLY)
                        .contains(binary.kind());
        return (isArithmetic || op.root().op() instanceof Cast) && op.sumType().bytes() < Integer.BYTES;
    }

    private boolean isStored() {
        return function.fits() && op.clip().isEmpty();
    }

    private void store(BlockBuilder block, String suffix, Expr value, Element at) {
        boolean perChannel = op.requantization().isPresent();
        Expr channel = perChannel && out.rank() > 0 ? Exprs.mod(at.place, imm(out.dim(-1))) : imm(0);
        epilogue.store(block, suffix, value, channel, buffers.output(), at.index);
    }
}
