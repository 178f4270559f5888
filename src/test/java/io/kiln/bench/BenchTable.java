// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.bench.BenchResult.Figures;
import io.kiln.bench.BenchResult.Operator;
import java.util.Locale;

/** Prints results, each as soon as it is there. */
final class BenchTable {
    private BenchTable() {}

    static void heading() {
        System.out.printf(
                Locale.ROOT,
                "%-18s %12s %12s %7s %12s %7s  %12s %12s %11s %9s %8s %7s%n",
                "row",
                "count",
                "goal",
                "x goal",
                "peer",
                "fewer",
                "instructions",
                "loads",
                "taken",
                "flash",
                "ram",
                "stack");
    }

    static void print(BenchResult r) {
        Figures image = r.image();
        System.out.printf(
                Locale.ROOT,
                "%-18s %,12d %,12d %7.2f %12s %7s  %,12d %,12d %,11d %,9d %,8d %,7d%s%s%n",
                r.row(),
                r.count(),
                r.goal(),
                r.timesGoal(),
                r.peer() == 0 ? "" : String.format(Locale.ROOT, "%,d", r.peer()),
                r.peer() == 0 ? "" : String.format(Locale.ROOT, "%.2f", r.timesFewer()),
                image.instructions(),
                image.loads(),
                image.takenBranches(),
                image.flash(),
                image.ram(),
                image.stack(),
                r.met() ? "  met" : "",
                image.bitExact() ? "" : "  WRONG ANSWERS");
        for (Figures speed : r.speed()) {
            System.out.printf(
                    Locale.ROOT,
                    "  with optimize=speed %,d bytes (%.2f times), stack %,d%s%n",
                    speed.ram(),
                    (double) speed.ram() / image.ram(),
                    speed.stack(),
                    speed.bitExact() ? "" : "  WRONG ANSWERS");
        }
        for (Operator o : image.operators()) {
            System.out.printf(
                    Locale.ROOT,
                    "  %,12d  loads %,11d  stores %,10d  taken %,10d  MACs %,10d %s  %s  %s%n",
                    o.instructions(),
                    o.loads(),
                    o.stores(),
                    o.takenBranches(),
                    o.macs(),
                    o.macs() == 0 ? "     " : String.format(Locale.ROOT, "%5.2f", (double) o.instructions() / o.macs()),
                    o.name(),
                    o.schedule());
        }
    }
}
