// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.bench.BenchResult.Figures;
import io.kiln.bench.BenchResult.Operator;
import java.util.List;
import java.util.Locale;

/** Prints results, each as soon as it is there. */
final class BenchTable {
    private BenchTable() {}

    static void heading() {
        System.out.printf(
                Locale.ROOT,
                "%-18s %12s %12s %7s %12s %7s  %12s %12s %12s %11s %9s %8s %7s%n",
                "row",
                "count",
                "goal",
                "x goal",
                "peer",
                "fewer",
                "instructions",
                "cycles",
                "loads",
                "taken",
                "flash",
                "ram",
                "stack");
    }

    static void print(BenchResult r) {
        System.out.printf(
                Locale.ROOT,
                "%-18s %,12d %,12d %7.2f %12s %7s",
                r.row(),
                r.count(),
                r.goal(),
                r.timesGoal(),
                r.peer() == 0 ? "" : String.format(Locale.ROOT, "%,d", r.peer()),
                r.peer() == 0 ? "" : String.format(Locale.ROOT, "%.2f", r.timesFewer()));
        for (int i = 0; i < r.images().size(); i++) {
            Figures image = r.images().get(i);
            System.out.printf(
                    Locale.ROOT,
                    "%s  %,12d %,12d %,12d %,11d %,9d %,8d %,7d%s%s",
                    i == 0 ? "" : String.format(Locale.ROOT, "%n  %-71s", "with optimize=" + image.optimize()),
                    image.instructions(),
                    image.cycles().expected(),
                    image.loads(),
                    image.takenBranches(),
                    image.flash(),
                    image.ram(),
                    image.stack(),
                    i == 0 && r.met() ? "  met" : "",
                    image.bitExact() ? "" : "  WRONG ANSWERS");
        }
        System.out.println(r.images().isEmpty() && r.met() ? "  met" : "");
        if (!r.kind().equals("layers")) {
            r.images().forEach(image -> image.operators().forEach(BenchTable::print));
        }
    }

    /** Made-up layers, before their row. */
    static void print(List<LayerCost> costs) {
        costs.forEach(cost -> System.out.printf(
                Locale.ROOT,
                "  %-16s %,10d cycles %8.3f per MAC, %5.2f times %-7s %s%n",
                cost.layer().name(),
                cost.cycles(),
                cost.perMac(),
                cost.thousandths() / 1000.0,
                cost.layer().regular(),
                cost.schedule()));
    }

    private static void print(Operator o) {
        System.out.printf(
                Locale.ROOT,
                "  %,12d  cycles %,12d  loads %,11d  stores %,10d  taken %,10d  executed MACs %,10d of %,10d %5s  %s "
                        + " %s%n",
                o.instructions(),
                o.cycles().expected(),
                o.loads(),
                o.stores(),
                o.takenBranches(),
                o.executedMacs(),
                o.macs(),
                o.executedMacs() == 0
                        ? ""
                        : String.format(Locale.ROOT, "%.2f", (double) o.instructions() / o.executedMacs()),
                o.name(),
                o.schedule());
    }
}
