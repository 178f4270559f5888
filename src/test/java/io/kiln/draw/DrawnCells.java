// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What functions hold of each operator: which element types meet, how operands broadcast, how many dimensions they have, and
 * which kinds of values its attributes and constants take. Each is a word, a cell of the table operator by cell.
 */
final class DrawnCells {
    private final SortedMap<String, SortedSet<String>> cells = new TreeMap<>();

    /** The cells of functions and of those that they call, by operator. */
    static SortedMap<String, SortedSet<String>> of(Stream<Function> functions) {
        DrawnCells drawn = new DrawnCells();
        functions.forEach(drawn::add);
        return drawn.cells;
    }

    private void add(Function function) {
        function.functions().forEach(this::add);
        Map<Integer, TensorType> types = function.types();
        for (Binding binding : function.bindings()) {
            SortedSet<String> own = cells.computeIfAbsent(binding.op().name(), name -> new TreeSet<>());
            List<Arg> args = binding.args();
            SortedSet<String> operands = new TreeSet<>();
            for (int i = 0; i < args.size(); i++) {
                Arg arg = args.get(i);
                TensorType type = arg.type(types);
                if (arg instanceof Constant constant && type.shape().rank() == 0) {
                    own.add("constant " + i + " "
                            + classOf(type.dtype().isFloat() ? constant.real(0) : constant.integer(0)));
                } else {
                    String place = (arg instanceof Constant ? "constant " : "operand ") + Math.min(i, 2) + " ";
                    own.add(place + form(type.shape(), binding));
                    operands.add(type.dtype().text());
                }
            }
            own.add((operands.isEmpty() ? "numbers" : String.join("+", operands)) + " to "
                    + binding.type().dtype().text());
            binding.op().attributes().forEach((name, value) -> {
                List<?> values = value instanceof List<?> list ? list : List.of(value);
                values.forEach(each -> own.add(name + " " + classOf(each)));
            });
        }
    }

    /** Dimensions, and of operands that broadcast whether some are 1 or missing. */
    private static String form(Shape shape, Binding binding) {
        if (shape.elements() == 0) {
            return "empty";
        }
        Shape result = binding.type().shape();
        boolean isSame = shape.equals(result) || !binding.op().has(Trait.ELEMENTWISE);
        return "rank" + shape.rank() + (isSame ? "" : shape.rank() < result.rank() ? "less" : "other");
    }

    static String classOf(Object value) {
        if (value instanceof Number number) {
            double real = number.doubleValue();
            String size = real == 0 ? "0" : Math.abs(real) < 1 ? "part" : "more";
            return (real < 0 ? "-" : "") + size;
        }
        return value instanceof List<?> list
                ? list.stream().map(DrawnCells::classOf).collect(Collectors.joining("/"))
                : String.valueOf(value);
    }
}
