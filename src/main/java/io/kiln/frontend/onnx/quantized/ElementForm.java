// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A function of the elements of two tensors of bytes, or of one and of constants. The importer of the float operator computes the results of
 * all combinations of bytes, which are a table.
 *
 * @param importer of the operator
 * @param node the operator
 * @param operands its inputs by index, without constants of one element
 * @param moved how it selects elements of its operands, if it does
 */
record ElementForm(
        OnnxImporter importer, NodeContext node, Map<Integer, ElementOperand> operands, Optional<Deferred> moved)
        implements Deferred, ElementOperand {
    /** Most nodes of one function. */
    static final int MOST_NODES = 64;

    ElementForm {
        operands = new LinkedHashMap<>(operands);
    }

    @Override
    public Sources sources() {
        return operands.values().stream()
                .map(ElementOperand::sources)
                .reduce(new Sources(List.of(), List.of()), Sources::with);
    }

    @Override
    public int nodes() {
        return 1 + operands.values().stream().mapToInt(ElementOperand::nodes).sum();
    }

    @Override
    public Constant over(Grid grid) {
        Map<Integer, OnnxValue> values = new LinkedHashMap<>();
        operands.forEach((index, operand) -> {
            Constant results = operand.over(grid);
            values.put(
                    index, new OnnxValue(results, ElementType.of(results.type().dtype())));
        });
        NodeContext shadow = node.shadow(values, Optional.empty());
        importer.emit(shadow);
        return shadow.output(0)
                .map(OnnxValue::arg)
                .filter(Constant.class::isInstance)
                .map(Constant.class::cast)
                .filter(results -> results.elements() == grid.size())
                .map(results -> (Constant) new Expressions(node).reshape(results, List.of(grid.size())))
                .orElseThrow(() -> node.failure(
                        "its results depend on more than the element at their place", "one result for each element"));
    }

    /** Its results at all points; empty if a result depends on other elements than the one at its place. */
    Optional<Constant> results(Grid grid) {
        try {
            return Optional.of(over(grid));
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
        Optional<Limits> own = FunctionForm.limits(node, to);
        if (own.isPresent() && operands.get(0) instanceof ElementForm inner) {
            return inner.quantized(to, own.get().then(limits));
        }
        boolean isMoved =
                node.node().operator().equals("Max") || node.node().operator().equals("Min");
        Optional<Arg> selected = isMoved ? moved.flatMap(form -> form.quantized(to, limits)) : Optional.empty();
        return selected.or(() -> table(to, limits)).or(() -> moved.flatMap(form -> form.quantized(to, limits)));
    }

    private Optional<Arg> table(ElementQuantization to, Limits limits) {
        Sources sources = sources();
        if (sources.tensors().size() == 2 && sources.constants().isEmpty()) {
            return pairs(sources.tensors().get(0), sources.tensors().get(1), to, limits);
        }
        return sources.tensors().size() == 1 ? rows(sources, to, limits) : Optional.empty();
    }

    private Optional<Arg> pairs(Dequantized left, Dequantized right, ElementQuantization to, Limits limits) {
        PairForm pair = new PairForm(left, right);
        boolean isPlain = operands.size() == 2
                && operands.values().stream().allMatch(o -> o instanceof TableForm table && table.isPlain());
        PairLookup kind = isPlain ? pair.kind(node.node().operator(), to) : new PairLookup();
        return results(Grid.of(left, right))
                .map(all -> pair.emit(node, kind, limits, (x, y) -> {
                    float real = all.real((x - Byte.MIN_VALUE) * PairLookup.SIZE + y - Byte.MIN_VALUE);
                    return QuantizedForms.quantized(to, real);
                }));
    }

    private Optional<Arg> rows(Sources sources, ElementQuantization to, Limits limits) {
        Dequantized tensor = sources.tensors().get(0);
        return ConstantRows.of(node, sources.constants())
                .flatMap(rows -> results(rows.with(tensor)).map(all -> {
                    byte[] table = QuantizedForms.table(all, to, limits);
                    Shape shape = Shape.of(rows.rows().size(), PairLookup.SIZE);
                    Constant constant = new Constant("", new TensorType(shape, DType.INT8), Bytes.wrap(table));
                    return node.emit(new PairLookup(), rows.indices(), tensor.integers(), constant);
                }));
    }
}
