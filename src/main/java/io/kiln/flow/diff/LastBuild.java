// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.diff;

import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.report.diff.BuildDiff;
import io.kiln.report.diff.BuildDiff.DiffText;
import io.kiln.report.diff.Figures;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The reports of the build before, in {@code kiln/previous}. */
public final class LastBuild {
    private static final List<String> KEPT = List.of(Figures.REPORT, "profile.json", "verify.json");

    private LastBuild() {}

    /** The earlier build's report; there is no such file before the second build. */
    static Path report(Layout layout) {
        return layout.reports().resolve("previous").resolve(Figures.REPORT);
    }

    /** Keeps the reports that there are, before those of another image take their places. */
    public static void keep(Layout layout) {
        Path folder = report(layout).getParent();
        for (String name : KEPT) {
            Path now = layout.reports().resolve(name);
            if (Files.isRegularFile(now)) {
                WholeFiles.copy(now, folder.resolve(name));
            } else {
                WholeFiles.delete(folder.resolve(name));
            }
        }
    }

    /** What changed in size since then, in a line; empty after the first build, or if that build's report cannot be read. */
    public static Optional<String> line(Layout layout) {
        if (!Files.isRegularFile(report(layout))) {
            return Optional.empty();
        }
        try {
            Figures now = Figures.read(layout.reports().resolve(Figures.REPORT));
            BuildDiff diff = BuildDiff.of("", Figures.read(report(layout)), now);
            return Optional.of("Since the last build: flash " + DiffText.difference(diff.total("flash"))
                    + " bytes, RAM " + DiffText.difference(diff.total("ram")) + " bytes");
        } catch (KilnException e) {
            return Optional.empty();
        }
    }
}
