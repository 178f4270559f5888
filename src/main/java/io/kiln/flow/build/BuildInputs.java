// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Extensions;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.flow.resolve.VelaProgram;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.frontend.CustomOperator;
import io.kiln.preprocess.Preprocessing;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.toolchain.compiler.Toolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The files that a build reads. */
public final class BuildInputs {
    private BuildInputs() {}

    /**
     * Files and folders, without those in the project's {@code src} and in the output folder; some need not exist.
     *
     * @param build a build whose goals have run
     * @param gnuHomes installations that are searched for a compiler before the PATH
     */
    public static Set<Path> of(ResolvedBuild build, List<Path> gnuHomes) {
        BuildSpec spec = build.spec();
        Layout layout = spec.layout();
        Fingerprint all = Fingerprint.of("any").value("", build);
        BoardRecords.addTo(all, build);
        Set<Path> files = new TreeSet<>(all.paths());
        files.add(BoardRecords.log(spec));
        for (ModelSource model : spec.models()) {
            files.add(Preprocessing.place(model.file()));
            files.addAll(model.companions(spec.options(build.board()).reading().limits()));
        }
        CodeSpec code = spec.image().code();
        code.sources().forEach(folder -> files.add(layout.project().resolve(folder)));
        code.includes().forEach(folder -> files.add(layout.project().resolve(folder)));
        for (CustomOperator operator :
                spec.options().reading().customOperators().list()) {
            if (!operator.reference().isEmpty()) {
                Path reference = layout.project().resolve(operator.reference());
                files.add(reference);
                // It includes headers beside and below it.
                files.add(reference.toAbsolutePath().getParent());
            }
        }
        spec.update().key().ifPresent(files::add);
        spec.codegens().vela().ifPresent(vela -> {
            files.add(VelaProgram.find(vela).file());
            files.addAll(Executables.places(vela.program()));
        });
        build.board().support().pack().ifPresent(files::add);
        files.addAll(compilers(build, gnuHomes));
        files.addAll(FirmwareLinker.filesElsewhere(layout.reports()));
        files.add(Extensions.place(BuildInputs.class));
        files.addAll(Extensions.code(BuildInputs.class.getClassLoader()));
        return files;
    }

    /** The compiler, the places where another would be found before it, and the user's description of it. */
    private static Set<Path> compilers(ResolvedBuild build, List<Path> gnuHomes) {
        Set<Path> files = new TreeSet<>();
        Toolchains.file(ToolchainChoice.of(build.spec().toolchain(), build.board()))
                .ifPresent(files::add);
        String compiler = build.toolchain().compiler();
        files.addAll(Executables.places(compiler));
        Path name = Path.of(compiler).getFileName();
        for (Path home : gnuHomes) {
            files.add(home.resolve("bin").resolve(name));
            files.add(home.resolve(name));
        }
        return files;
    }
}
