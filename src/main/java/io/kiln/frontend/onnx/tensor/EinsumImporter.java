// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Einstein's sums: each product of two operands is a product of matrices over the indices that neither the result nor
 * a later operand has.
 */
final class EinsumImporter implements OnnxImporter {
    /** Indices that stand for the dots, from the last one backwards. */
    private static final String DOTS = "9876543210";

    private static final int MAX_LENGTH = 200;

    /**
     * A value and the index of each of its dimensions.
     *
     * @param indices one character for each dimension, each once
     */
    private record Term(Arg arg, String indices) {}

    @Override
    public void emit(NodeContext node) {
        String equation = node.text("equation", "").replace(" ", "");
        node.require(
                equation.length() <= MAX_LENGTH && equation.matches("[A-Za-z.,]+(->[A-Za-z.]*)?"),
                "its equation is `" + equation + "`",
                "indices, such as ij,jk->ik");
        String[] sides = equation.split("->", -1);
        String[] stated = sides[0].split(",", -1);
        node.require(
                stated.length == node.inputs(), "its equation has " + stated.length + " operands", "" + node.inputs());
        List<String> operands = new ArrayList<>();
        int dots = 0;
        for (int i = 0; i < stated.length; i++) {
            int rank = node.shape(i).rank();
            int named = stated[i].replace(".", "").length();
            node.require(
                    rank == named || (rank >= named && stated[i].contains("...")),
                    "`" + stated[i] + "` does not fit " + node.shape(i).text(),
                    "an index for each dimension");
            dots = Math.max(dots, rank - named);
            operands.add(stated[i].replace("...", DOTS.substring(DOTS.length() - (rank - named))));
        }
        String result = sides.length > 1
                ? sides[1].replace("...", DOTS.substring(DOTS.length() - dots))
                : implicit(operands, dots);
        node.finish(sum(node, operands, result));
    }

    /** Without a stated result: the dots, then the indices that occur once, in order. */
    private static String implicit(List<String> operands, int dots) {
        String all = String.join("", operands);
        return DOTS.substring(DOTS.length() - dots)
                + all.chars()
                        .filter(c -> Character.isLetter(c) && all.indexOf(c) == all.lastIndexOf(c))
                        .sorted()
                        .mapToObj(c -> String.valueOf((char) c))
                        .collect(Collectors.joining());
    }

    private static Arg sum(NodeContext node, List<String> operands, String result) {
        Map<Character, Integer> sizes = new HashMap<>();
        List<Term> terms = new ArrayList<>();
        for (int i = 0; i < operands.size(); i++) {
            Term term = diagonal(node, new Term(node.arg(i), operands.get(i)));
            for (int k = 0; k < term.indices.length(); k++) {
                sizes.merge(term.indices.charAt(k), node.shape(term.arg).dim(k), Math::max);
            }
            terms.add(term);
        }
        for (int i = 0; i < result.length(); i++) {
            char c = result.charAt(i);
            node.require(sizes.containsKey(c), "no operand has the result's index " + c, "indices of operands");
        }
        Term product = reduced(node, terms.get(0), result + later(operands, 1));
        for (int i = 1; i < terms.size(); i++) {
            String needed = result + later(operands, i + 1);
            product = product(node, product, reduced(node, terms.get(i), needed + product.indices), needed, sizes);
        }
        Term last = reduced(node, product, result);
        return node.transpose(
                last.arg, result.chars().mapToObj(c -> last.indices.indexOf(c)).toList());
    }

    private static String later(List<String> operands, int from) {
        return String.join("", operands.subList(from, operands.size()));
    }

    /** The elements at which repeated indices are equal. */
    private static Term diagonal(NodeContext node, Term term) {
        Term value = term;
        for (int i = 0; i < value.indices.length(); i++) {
            int second = value.indices.indexOf(value.indices.charAt(i), i + 1);
            while (second >= 0) {
                value = diagonal(node, value, i, second);
                second = value.indices.indexOf(value.indices.charAt(i), i + 1);
            }
        }
        return value;
    }

    private static Term diagonal(NodeContext node, Term term, int first, int second) {
        Shape shape = node.shape(term.arg);
        int size = shape.dim(first);
        node.require(size == shape.dim(second), "a repeated index has two sizes in " + shape.text(), "one size");
        List<Integer> axes = new ArrayList<>(IntStream.range(0, shape.rank())
                .filter(i -> i != first && i != second)
                .boxed()
                .toList());
        axes.add(0, second);
        axes.add(0, first);
        List<Integer> dims = new ArrayList<>(
                axes.subList(2, axes.size()).stream().map(shape::dim).toList());
        dims.add(0, size * size);
        Arg flat = node.reshape(node.transpose(term.arg, axes), dims);
        List<Integer> places =
                IntStream.range(0, size).map(i -> i * (size + 1)).boxed().toList();
        String rest = new StringBuilder(term.indices)
                .deleteCharAt(second)
                .deleteCharAt(first)
                .toString();
        Arg taken = node.take(flat, node.ints(places, Shape.of(size)), 0);
        return new Term(taken, term.indices.charAt(first) + rest);
    }

    /** The sum along all indices that are not needed. */
    private static Term reduced(Formulas e, Term term, String needed) {
        List<Integer> axes = IntStream.range(0, term.indices.length())
                .filter(i -> needed.indexOf(term.indices.charAt(i)) < 0)
                .boxed()
                .toList();
        if (axes.isEmpty()) {
            return term;
        }
        List<Integer> dims = new ArrayList<>();
        StringBuilder kept = new StringBuilder();
        for (int i = 0; i < term.indices.length(); i++) {
            if (!axes.contains(i)) {
                dims.add(e.shape(term.arg).dim(i));
                kept.append(term.indices.charAt(i));
            }
        }
        return new Term(e.reshape(e.reduce(Reduce.Kind.SUM, term.arg, axes), dims), kept.toString());
    }

    /** The sum of products over the indices of both that are not needed. */
    private static Term product(NodeContext node, Term a, Term b, String needed, Map<Character, Integer> sizes) {
        String both = only(a.indices, c -> b.indices.indexOf(c) >= 0);
        String batch = only(both, c -> needed.indexOf(c) >= 0);
        String summed = only(both, c -> needed.indexOf(c) < 0);
        String rows = only(a.indices, c -> b.indices.indexOf(c) < 0);
        String columns = only(b.indices, c -> a.indices.indexOf(c) < 0);
        int depth = size(summed, sizes);
        Arg left = arranged(node, a, List.of(batch, rows, summed), sizes);
        Arg right = arranged(node, b, List.of(batch, summed, columns), sizes);
        Arg matrices = depth == 1 || !node.dtype(left).isFloat()
                ? sumOfProducts(node, left, right)
                : node.emit(new TflBatchMatmul(false, false), left, right, Constant.scalar(0), Constant.scalar(0));
        String indices = batch + rows + columns;
        List<Integer> dims = indices.chars().mapToObj(c -> sizes.get((char) c)).toList();
        return new Term(node.reshape(matrices, dims), indices);
    }

    /** For a depth of 1, and for integers: products of all pairs, then their sum. */
    private static Arg sumOfProducts(Formulas e, Arg left, Arg right) {
        Shape a = e.shape(left);
        Shape b = e.shape(right);
        Arg products = e.multiply(
                e.reshape(left, List.of(a.dim(0), a.dim(1), a.dim(2), 1)),
                e.reshape(right, List.of(b.dim(0), 1, b.dim(1), b.dim(2))));
        Arg sum = a.dim(2) == 1 ? products : e.reduce(Reduce.Kind.SUM, products, List.of(2));
        return e.reshape(sum, List.of(a.dim(0), a.dim(1), b.dim(2)));
    }

    /** Dimensions in another order, joined to three; those of size 1 that broadcast are repeated. */
    private static Arg arranged(Formulas e, Term term, List<String> groups, Map<Character, Integer> sizes) {
        String order = String.join("", groups);
        Arg moved = e.transpose(
                term.arg, order.chars().mapToObj(c -> term.indices.indexOf(c)).toList());
        Shape whole = new Shape(order.chars().mapToObj(c -> sizes.get((char) c)).toList());
        return e.reshape(
                e.broadcast(moved, whole),
                groups.stream().map(g -> size(g, sizes)).toList());
    }

    private static int size(String indices, Map<Character, Integer> sizes) {
        return indices.chars().map(c -> sizes.get((char) c)).reduce(1, Math::multiplyExact);
    }

    private static String only(String indices, IntPredicate filter) {
        return indices.chars()
                .filter(filter)
                .mapToObj(c -> String.valueOf((char) c))
                .collect(Collectors.joining());
    }
}
