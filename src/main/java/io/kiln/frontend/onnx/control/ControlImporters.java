// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.control;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxGraph;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** The table of control flow. */
public final class ControlImporters {
    private static final int MAX_TRIPS = 4096;

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = List.of(
            onnx("If", ControlImporters::choose),
            onnx("Loop", ControlImporters::loop),
            onnx("Scan", new ScanImporter()));

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
        Expressions e = new Expressions(node);
        List<OnnxValue> yes = node.run("then_branch", List.of());
        List<OnnxValue> no = node.run("else_branch", List.of());
        node.require(
                yes.size() == node.outputs() && no.size() == node.outputs(),
                "its branches have " + yes.size() + " and " + no.size() + " results",
                "" + node.outputs());
        Arg condition = e.reshape(node.arg(0), List.of());
        for (int i = 0; i < yes.size(); i++) {
            Arg first = yes.get(i).arg();
            Arg second = no.get(i).arg();
            if (!node.type(first).equals(node.type(second))) {
                node.known(
                        node.arg(0),
                        "its branches compute " + node.type(first).text() + " and "
                                + node.type(second).text() + ", and which of them");
            }
            node.finish(i, e.where(condition, first, second), yes.get(i).type());
        }
    }

    /** A loop whose number of iterations is known: the condition stays true, or is constant in each. */
    private static void loop(NodeContext node) {
        Expressions e = new Expressions(node);
        long trips = node.has(0) ? node.integers(0, "trip count").get(0) : Long.MAX_VALUE;
        boolean goesOn = !node.has(1) || node.constant(1, "condition").integer(0) != 0;
        OnnxGraph body = node.attributes().body("body");
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
            inputs.add(new OnnxValue(e.number((double) trip, DType.INT64), ElementType.INT64));
            inputs.add(new OnnxValue(e.number(1, DType.BOOL), ElementType.BOOL));
            inputs.addAll(carried);
            List<OnnxValue> results = node.run("body", inputs);
            goesOn = node.known(results.get(0).arg(), "its condition").integer(0) != 0;
            int count = carried.size();
            carried = new ArrayList<>(results.subList(1, 1 + count));
            for (int i = 0; i < scans; i++) {
                scanned.get(i).add(results.get(1 + count + i));
            }
        }
        finish(node, e, carried, scanned);
    }

    private static void finish(
            NodeContext node, Expressions e, List<OnnxValue> carried, List<List<OnnxValue>> scanned) {
        for (int i = 0; i < carried.size(); i++) {
            node.finish(i, carried.get(i).arg(), carried.get(i).type());
        }
        for (int i = 0; i < scanned.size(); i++) {
            node.require(!scanned.get(i).isEmpty(), "it does not run at all", "at least one iteration");
            node.finish(
                    carried.size() + i,
                    stacked(e, scanned.get(i), 0),
                    scanned.get(i).get(0).type());
        }
    }

    /** Values along a new axis. */
    static Arg stacked(Expressions e, List<OnnxValue> values, int axis) {
        List<Arg> parts = new ArrayList<>();
        for (OnnxValue value : values) {
            Shape shape = e.shape(value.arg());
            List<Integer> dims = new ArrayList<>(shape.dims());
            dims.add(axis, 1);
            parts.add(e.reshape(value.arg(), dims));
        }
        return e.concatenate(parts, axis);
    }
}
