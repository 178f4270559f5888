// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Extensions;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CodeSpec;
import io.kiln.preprocess.Preprocessing;
import io.kiln.process.Executables;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/** The files that a build reads. */
public final class BuildInputs {
    private BuildInputs() {}

    /**
     * Files and folders, without those in the project's {@code src} and in the output folder; some need not exist.
     *
     * @param build a build whose goals have run
     */
    public static Set<Path> of(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        Layout layout = spec.layout();
        Fingerprint all = Fingerprint.of("any").value("", build);
        BoardRecords.addTo(all, build);
        Set<Path> files = new TreeSet<>(all.paths());
        for (ModelSource model : spec.models()) {
            files.add(Preprocessing.place(model.file()));
            files.addAll(model.companions(spec.options(build.board()).reading().limits()));
        }
        CodeSpec code = spec.image().code();
        code.sources().forEach(folder -> files.add(layout.project().resolve(folder)));
        code.includes().forEach(folder -> files.add(layout.project().resolve(folder)));
        spec.update().key().ifPresent(files::add);
        Executables.find(build.toolchain().compiler()).ifPresent(files::add);
        files.addAll(FirmwareLinker.filesElsewhere(layout.reports()));
        files.add(Extensions.place(BuildInputs.class));
        files.addAll(Extensions.code(BuildInputs.class.getClassLoader()));
        return files;
    }
}
