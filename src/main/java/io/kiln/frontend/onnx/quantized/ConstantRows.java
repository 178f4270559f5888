// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Constants that meet a tensor of bytes element by element: the different combinations of their elements are the rows of a table.
 *
 * @param indices the row of each element, less 128, in dimensions that broadcast over the tensor
 * @param rows for each row, the place in each constant of an element with its number
 */
record ConstantRows(Constant indices, List<Map<Constant, Integer>> rows) {
    private static final int MOST_ELEMENTS = 1 << 20;

    ConstantRows {
        rows = List.copyOf(rows);
    }

    /** The rows of some constants; empty if there are more than 256. */
    static Optional<ConstantRows> of(NodeContext node, List<Constant> constants) {
        Expressions e = new Expressions(node);
        Shape shape = Shape.scalar();
        for (Constant constant : constants) {
            shape = e.broadcastShape(shape, constant.type().shape());
        }
        if (shape.elements() > MOST_ELEMENTS) {
            return Optional.empty();
        }
        List<Constant> places = new ArrayList<>();
        for (Constant constant : constants) {
            places.add((Constant) e.broadcast(e.places(constant.type().shape(), i -> i), shape));
        }
        Map<List<Number>, Map<Constant, Integer>> rows = new LinkedHashMap<>();
        Map<List<Number>, Integer> numbers = new LinkedHashMap<>();
        byte[] indices = new byte[(int) shape.elements()];
        for (int i = 0; i < indices.length; i++) {
            Map<Constant, Integer> row = new LinkedHashMap<>();
            List<Number> key = new ArrayList<>();
            for (int k = 0; k < constants.size(); k++) {
                int place = (int) places.get(k).integer(i);
                row.put(constants.get(k), place);
                key.add(number(constants.get(k), place));
            }
            rows.putIfAbsent(key, row);
            numbers.putIfAbsent(key, numbers.size());
            if (rows.size() > PairLookup.SIZE) {
                return Optional.empty();
            }
            indices[i] = (byte) (numbers.get(key) + Byte.MIN_VALUE);
        }
        Constant index = new Constant("", new TensorType(shape, DType.INT8), Bytes.wrap(indices));
        return Optional.of(new ConstantRows(index, List.copyOf(rows.values())));
    }

    private static Number number(Constant constant, int place) {
        return constant.type().dtype() == DType.FLOAT32 ? constant.real(place) : constant.integer(place);
    }

    /** All rows with all bytes of a tensor; the bytes follow each other. */
    Grid with(Dequantized tensor) {
        Map<Constant, IntUnaryOperator> elements = new LinkedHashMap<>();
        rows.get(0).keySet().forEach(constant -> {
            int[] places = IntStream.range(0, rows.size())
                    .map(row -> rows.get(row).get(constant))
                    .toArray();
            elements.put(constant, i -> places[i / PairLookup.SIZE]);
        });
        return new Grid(rows.size() * PairLookup.SIZE, Map.of(tensor, i -> i % PairLookup.SIZE), elements);
    }
}
