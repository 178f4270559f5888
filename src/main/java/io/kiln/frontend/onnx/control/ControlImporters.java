// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.control;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxModel.OnnxGraph;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Control flow: {@code If} and {@code Loop}, and {@code Scan}, whose body runs for each slice of some inputs. */
public final class ControlImporters {
    private static final int WITHOUT_BATCH = 9;

    private static final int MAX_TRIPS = 4096;

    public static final List<OnnxRegistration> ALL = List.of(
            onnx("If", ControlImporters::choose),
            onnx("Loop", ControlImporters::loop),
            onnx("Scan", ControlImporters::scan));

    private ControlImporters() {}

    /** The branch of a constant condition; otherwise both branches, whose results are selected by the condition. */
    private static void choose(NodeContext node) {
        if (node.arg(0) instanceof Constant condition) {
            List<OnnxValue> results = node.run(condition.integer(0) != 0 ? "then_branch" : "else_branch", List.of());
            for (int i = 0; i < Math.min(results.size(), node.outputs()); i++) {
                node.finish(i, results.get(i).arg(), results.get(i).type());
            }
            return;
        }
        List<OnnxValue> yes = node.run("then_branch", List.of());
        List<OnnxValue> no = node.run("else_branch", List.of());
        node.require(
                yes.size() == node.outputs() && no.size() == node.outputs(),
                "its branches have " + yes.size() + " and " + no.size() + " results",
                "" + node.outputs());
        Arg condition = node.reshape(node.arg(0), List.of());
        for (int i = 0; i < yes.size(); i++) {
            Arg first = yes.get(i).arg();
            Arg second = no.get(i).arg();
            if (!node.type(first).equals(node.type(second))) {
                node.known(
                        node.arg(0),
                        "its branches compute " + node.type(first).text() + " and "
                                + node.type(second).text() + ", and which of them");
            }
            node.finish(i, node.where(condition, first, second), yes.get(i).type());
        }
    }

    /** A loop whose number of iterations is known: the condition stays true, or is constant in each. */
    private static void loop(NodeContext node) {
        long trips = node.has(0) ? node.integers(0, "trip count").get(0) : Long.MAX_VALUE;
        boolean goesOn = !node.has(1) || node.constant(1, "condition").integer(0) != 0;
        OnnxGraph body = node.body("body");
        List<OnnxValue> carried = new ArrayList<>();
        for (int i = 2; i < node.inputs(); i++) {
            carried.add(node.input(i));
        }
        List<List<OnnxValue>> scanned = new ArrayList<>();
        int scans = body.outputs().size() - 1 - carried.size();
        node.require(
                scans >= 0, "its body has " + body.outputs().size() + " results", "a condition and all carried values");
        for (int i = 0; i < scans; i++) {
            scanned.add(new ArrayList<>());
        }
        for (long trip = 0; trip < trips && goesOn; trip++) {
            node.require(trip < MAX_TRIPS, "it runs more than " + MAX_TRIPS + " times", "fewer iterations");
            List<OnnxValue> inputs = new ArrayList<>();
            inputs.add(new OnnxValue(node.number((double) trip, DType.INT64), ElementType.INT64));
            inputs.add(new OnnxValue(node.number(1, DType.BOOL), ElementType.BOOL));
            inputs.addAll(carried);
            List<OnnxValue> results = node.run("body", inputs);
            goesOn = node.known(results.get(0).arg(), "its condition").integer(0) != 0;
            int count = carried.size();
            carried = new ArrayList<>(results.subList(1, 1 + count));
            for (int i = 0; i < scans; i++) {
                scanned.get(i).add(results.get(1 + count + i));
            }
        }
        finish(node, carried, scanned);
    }

    private static void finish(NodeContext node, List<OnnxValue> carried, List<List<OnnxValue>> scanned) {
        for (int i = 0; i < carried.size(); i++) {
            node.finish(i, carried.get(i).arg(), carried.get(i).type());
        }
        for (int i = 0; i < scanned.size(); i++) {
            node.require(!scanned.get(i).isEmpty(), "it does not run at all", "at least one iteration");
            node.finish(
                    carried.size() + i,
                    stacked(node, scanned.get(i), 0),
                    scanned.get(i).get(0).type());
        }
    }

    /** Values along a new axis. */
    private static Arg stacked(Formulas e, List<OnnxValue> values, int axis) {
        List<Arg> parts = new ArrayList<>();
        for (OnnxValue value : values) {
            Shape shape = e.shape(value.arg());
            Shape dims = shape.inserted(axis);
            parts.add(e.reshape(value.arg(), dims));
        }
        return e.concatenate(parts, axis);
    }

    /** {@code Scan}: a body for each slice of some inputs. Version 8 also has a batch axis, which must be of size 1. */
    private static void scan(NodeContext node) {
        OnnxGraph body = node.body("body");
        boolean hasBatch = node.version() < WITHOUT_BATCH;
        int first = hasBatch ? 1 : 0;
        node.require(!hasBatch || !node.has(0), "it has lengths of sequences", "sequences of one length");
        int given = node.inputs() - first;
        long scans = node.requiredWhole("num_scan_inputs");
        node.require(scans > 0 && scans <= given, "its num_scan_inputs is " + scans, "1 to " + given);
        int states = given - (int) scans;
        List<OnnxValue> inputsWithoutBatch = IntStream.range(first, node.inputs())
                .mapToObj(i -> unbatched(node, node.input(i), hasBatch))
                .toList();
        List<OnnxValue> carried = inputsWithoutBatch.subList(0, states);
        List<OnnxValue> sequences = inputsWithoutBatch.subList(states, given);
        List<Integer> axes = axes(node, "scan_input_axes", sequences.size());
        List<Boolean> reversed = reversed(node, hasBatch ? "directions" : "scan_input_directions", sequences.size());
        int steps = node.shape(sequences.get(0).arg()).dim(axes.get(0));
        int results = body.outputs().size() - states;
        node.require(results >= 0, "its body has too few results", "all states");
        List<List<OnnxValue>> scanned = new ArrayList<>();
        for (int i = 0; i < results; i++) {
            scanned.add(new ArrayList<>());
        }
        for (int step = 0; step < steps; step++) {
            List<OnnxValue> inputs = new ArrayList<>(carried);
            for (int i = 0; i < sequences.size(); i++) {
                int at = reversed.get(i) ? steps - 1 - step : step;
                inputs.add(slice(node, sequences.get(i), axes.get(i), at));
            }
            List<OnnxValue> outputs = node.run("body", inputs);
            carried = outputs.subList(0, states);
            for (int i = 0; i < results; i++) {
                scanned.get(i).add(outputs.get(states + i));
            }
        }
        finishScan(node, carried, scanned, hasBatch);
    }

    private static void finishScan(
            NodeContext node, List<OnnxValue> carried, List<List<OnnxValue>> scanned, boolean hasBatch) {
        for (int i = 0; i < carried.size(); i++) {
            finishScan(node, i, carried.get(i).arg(), carried.get(i), hasBatch);
        }
        List<Integer> axes = axes(node, "scan_output_axes", scanned.size());
        List<Boolean> reversed = reversed(node, "scan_output_directions", scanned.size());
        for (int i = 0; i < scanned.size(); i++) {
            List<OnnxValue> values = new ArrayList<>(scanned.get(i));
            if (reversed.get(i)) {
                Collections.reverse(values);
            }
            finishScan(node, carried.size() + i, stacked(node, values, axes.get(i)), values.get(0), hasBatch);
        }
    }

    private static void finishScan(NodeContext node, int output, Arg value, OnnxValue like, boolean hasBatch) {
        List<Integer> dims = new ArrayList<>(node.shape(value).dims());
        if (hasBatch) {
            dims.add(0, 1);
        }
        node.finish(output, node.reshape(value, dims), like.type());
    }

    private static OnnxValue unbatched(NodeContext node, OnnxValue value, boolean hasBatch) {
        if (!hasBatch) {
            return value;
        }
        Shape shape = node.shape(value.arg());
        node.require(shape.rank() > 0 && shape.dim(0) == 1, "its batch is " + shape.text(), "a batch of 1");
        return new OnnxValue(node.reshape(value.arg(), shape.dims().subList(1, shape.rank())), value.type());
    }

    private static OnnxValue slice(Formulas e, OnnxValue value, int axis, int at) {
        Shape dims = e.shape(value.arg()).without(axis);
        return new OnnxValue(e.reshape(e.slice(value.arg(), axis, at, at + 1), dims), value.type());
    }

    private static List<Integer> axes(NodeContext node, String name, int count) {
        List<Long> stated = node.wholes(name).orElse(Collections.nCopies(count, 0L));
        node.require(
                stated.size() == count && stated.stream().allMatch(a -> a >= 0 && a < 8),
                "its " + name + " are " + stated,
                count + " axes, counted from 0");
        return stated.stream().map(Long::intValue).toList();
    }

    private static List<Boolean> reversed(NodeContext node, String name, int count) {
        List<Long> stated = node.wholes(name).orElse(Collections.nCopies(count, 0L));
        node.require(stated.size() == count, "its " + name + " are " + stated, count + " directions");
        return stated.stream().map(d -> d != 0).toList();
    }
}
