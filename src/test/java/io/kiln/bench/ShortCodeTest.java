// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ArtifactKind;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.OneUnit;
import io.kiln.compile.RequestDraft;
import io.kiln.ir.Function;
import io.kiln.tir.CodeBytes;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where code runs through a small cache, what compilers make of a layer's micro-kernels fits in it, and is as large as it was counted to be. */
class ShortCodeTest {
    private static final int CACHE = 1024;
    private static final int LAYERS = DrawnCases.atLeast(12);

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "gnu, ANY",
        "clang, ANY",
        "gnu, HARD",
        "clang, HARD",
        "gnu, DENSE",
        "gnu, INT16",
        "gnu, WIDE",
        "gnu, DEPTHWISE"
    })
    void theKernelsOfLayersFitInTheCache(String toolchain, RandomForm form) {
        Core core = BenchData.load().cores().get("M4F1K");
        BenchImage.Compiler compiler =
                new BenchImage.Compiler(folder, TestToolchains.resolve(toolchain, core.target()), Optimize.SPEED);
        ResourceTree.read("shims")
                .forEach((file, content) ->
                        WholeFiles.write(folder.resolve("shims").resolve(file), content.toArray()));
        int kernels = 0;
        for (long seed = 1; seed <= LAYERS; seed++) {
            Function function = form.function(seed);
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("random"), core.target())
                            .name(function.name())
                            .build(),
                    function);
            String file = String.format(Locale.ROOT, "layer%d.c", seed);
            WholeFiles.write(
                    folder.resolve(file),
                    OneUnit.of(
                            folder,
                            function.name(),
                            compiled.library().artifacts().artifacts()));
            ElfFile object = ElfFile.read(folder.resolve(compiler.compile(file, SourceKind.OWN)));
            int counted = compiled.code().functions().stream()
                    .mapToInt(each -> CodeBytes.ofLargestKernel(each.body()))
                    .max()
                    .orElse(0);
            for (ElfFile.Symbol symbol : object.symbols()) {
                if (symbol.isFunction() && symbol.name().contains("kiln_")) {
                    kernels++;
                    String what = "seed " + seed + ", "
                            + compiled.library().metadata().operators() + ", " + symbol.name();
                    assertThat(symbol.size()).as(what).isLessThanOrEqualTo(CACHE);
                    if (isInAssembly(compiled, symbol.name())) {
                        assertThat(symbol.size()).as(what).isLessThanOrEqualTo(counted);
                    }
                }
            }
        }
        assertThat(kernels).isGreaterThan(LAYERS / 4);
    }

    /** C is counted about right only. */
    private static boolean isInAssembly(CompiledModel model, String symbol) {
        String name = symbol.substring(symbol.indexOf("kiln_"));
        return model.library().artifacts().of(ArtifactKind.SOURCE).stream()
                .anyMatch(source ->
                        source.content().text().matches("(?s).*naked[^\\n]* " + Pattern.quote(name) + "\\(.*"));
    }
}
