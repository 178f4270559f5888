// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.bench.BenchResult.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A made-up layer, measured.
 *
 * @param layer the layer
 * @param cycles of its operator, as expected
 * @param perMac of these for a multiply-accumulate inside the input
 * @param thousandths the same relative to the regular layer
 * @param schedule of its operator
 */
record LayerCost(HardLayer layer, long cycles, double perMac, long thousandths, String schedule) {
    /** The layers in their order, given the operators of their model behind its entry point, in the same order. */
    static List<LayerCost> of(List<Operator> operators) {
        if (operators.size() != HardLayers.ALL.size() + 1) {
            throw new IllegalStateException(
                    operators.size() - 1 + " operators of " + HardLayers.ALL.size() + " layers");
        }
        Map<String, Double> perMac = HardLayers.ALL.stream()
                .collect(Collectors.toMap(
                        HardLayer::name, layer -> perMac(operators.get(1 + HardLayers.ALL.indexOf(layer)))));
        List<LayerCost> costs = new ArrayList<>();
        for (HardLayer layer : HardLayers.ALL) {
            Operator operator = operators.get(1 + costs.size());
            double times = perMac.get(layer.name()) / perMac.get(layer.regular());
            costs.add(new LayerCost(
                    layer,
                    operator.cycles().expected(),
                    perMac.get(layer.name()),
                    Math.round(1000 * times),
                    operator.schedule()));
        }
        return costs;
    }

    private static double perMac(Operator operator) {
        return (double) operator.cycles().expected() / operator.macs();
    }

    /** The worst layer's. */
    static long most(List<LayerCost> costs) {
        return costs.stream().mapToLong(LayerCost::thousandths).max().orElse(0);
    }
}
