// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.Flash;
import io.kiln.report.BuildReport.ImageReport.Licence;
import io.kiln.report.BuildReport.Ram;
import io.kiln.report.FrontReport;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.graph.Graph;
import io.kiln.report.page.Shown;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The reports of a build that its page shows.
 *
 * @param built its report
 * @param profile what was counted or measured of its image
 * @param proof its last verification
 * @param front images for other goals beside it; empty if nobody measured them
 * @param graphs of its models, as far as they were compiled here
 */
public record Overview(
        BuildReport built,
        Optional<ProfileReport> profile,
        Optional<VerifyReport> proof,
        Optional<FrontReport> front,
        List<Graph> graphs) {
    public Overview {
        graphs = List.copyOf(graphs);
    }

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
                        "The image holds an RPC server, by which whoever reaches its console calls any function: for"
                                + " the bench only",
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

    /**
     * A kind of memory by what takes it.
     *
     * @param parts those that take something
     * @param total bytes of all parts
     * @param available bytes of the board; 0 if that is not known
     */
    public record MemoryParts(String title, List<Part> parts, long total, long available) {
        public MemoryParts {
            parts = List.copyOf(parts);
        }

        /**
         * A use of a memory.
         *
         * @param colour its class; empty for the total
         */
        public record Part(String name, long bytes, String colour) {}

        public static MemoryParts flash(BuildReport report) {
            Flash flash = report.flash();
            return of(
                    "Flash",
                    flash.total(),
                    flash.available(),
                    new Part("code", flash.text(), "a"),
                    new Part("constants of the models and strings", flash.constants(), "b"),
                    new Part("initial values of variables", flash.data(), "c"));
        }

        public static MemoryParts ram(BuildReport report) {
            Ram ram = report.ram();
            Long used = report.stack().used();
            return of(
                    "RAM",
                    ram.total(),
                    ram.available(),
                    new Part("workspace of the models", ram.workspace(), "a"),
                    new Part("inputs and outputs", ram.io(), "b"),
                    new Part(
                            used == null ? "stack" : "stack, of which " + Shown.count(used) + " were used",
                            ram.stack(),
                            "c"),
                    new Part("variables with an initial value", ram.data(), "d"),
                    new Part("other variables", ram.bss() - ram.state(), "e"),
                    new Part("state that models keep", ram.state(), "f"));
        }

        private static MemoryParts of(String title, long total, long available, Part... parts) {
            List<Part> taking =
                    Stream.of(parts).filter(part -> part.bytes() > 0).toList();
            return new MemoryParts(title, taking, total, available);
        }

        /** The parts, then the sum. */
        public List<Part> withTotal() {
            return Stream.concat(parts.stream(), Stream.of(new Part("total", total, "")))
                    .toList();
        }
    }
}
