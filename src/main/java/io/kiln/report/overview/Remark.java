// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ImageReport.Licence;
import io.kiln.report.VerifyReport;
import io.kiln.report.page.Shown;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A remark on a page: what a reader should know before trusting or shipping an image.
 *
 * @param isBad whether the image should not be used
 */
public record Remark(String text, boolean isBad) {
    /** The share in percent from which a memory is called almost full. */
    private static final double ALMOST_FULL = 90;

    /** The remarks on a build. */
    public static List<Remark> of(Overview overview) {
        List<Remark> remarks = new ArrayList<>();
        proof(overview, remarks);
        BuildReport built = overview.built();
        built.memories().forEach(memory -> {
            if (Shown.share(memory.used(), memory.available()) >= ALMOST_FULL) {
                remarks.add(new Remark(
                        "Memory " + memory.name() + " is almost full: "
                                + Shown.percent(memory.used(), memory.available()) + " of "
                                + Shown.bytes(memory.available()),
                        false));
            }
        });
        if (built.application().equals("rpc")) {
            remarks.add(new Remark(
                    "The image holds an RPC server, by which whoever reaches its console calls any function: for the bench only",
                    false));
        }
        if (built.estimate() != null && built.estimate().unknownInstructions() > 0) {
            remarks.add(new Remark(
                    Shown.count(built.estimate().unknownInstructions())
                            + " executed instructions are not in the core's table; the cycles are less certain",
                    false));
        }
        licences(built, remarks);
        return remarks;
    }

    private static void proof(Overview overview, List<Remark> remarks) {
        if (overview.proof().isEmpty()) {
            remarks.add(new Remark("This image was not verified; kiln:verify does that", false));
            return;
        }
        VerifyReport proof = overview.proof().get();
        if (!proof.passed()) {
            remarks.add(new Remark("The verification failed", true));
        } else if (!proof.bitExact()) {
            remarks.add(new Remark(
                    String.format(
                            Locale.ROOT,
                            "Answers are within the tolerance (%s absolute, %s relative), not equal bit for bit",
                            proof.tolerance().absolute(),
                            proof.tolerance().relative()),
                    false));
        }
    }

    private static void licences(BuildReport built, List<Remark> remarks) {
        List<String> unknown = built.image().licences().stream()
                .filter(licence -> licence.licence().isEmpty())
                .map(Licence::part)
                .toList();
        if (!unknown.isEmpty()) {
            remarks.add(new Remark(
                    "Sources without a stated licence are compiled in: " + String.join(", ", unknown), false));
        }
    }
}
