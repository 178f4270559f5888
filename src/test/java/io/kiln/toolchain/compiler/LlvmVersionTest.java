// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The version of the bundled LLVM is written in {@code toolchains/compilers/clang.yaml}. Maven needs it in {@code pom.xml} as well, for
 * the artifact on the tests' class path; both must be the same.
 */
class LlvmVersionTest {
    private static final Path DESCRIPTOR = Path.of("toolchains/compilers/clang.yaml");

    private final CompilerDescriptor clang;
    private final String pom;

    LlvmVersionTest() throws IOException {
        clang = Toolchains.read(DESCRIPTOR.toString(), Bytes.copyOf(Files.readAllBytes(DESCRIPTOR)));
        pom = Files.readString(Path.of("pom.xml"));
    }

    @Test
    void testsUseTheCompilerThatBuildsUse() {
        Matcher property =
                Pattern.compile("<llvm.version>([^<]+)</llvm.version>").matcher(pom);
        assertThat(property.find()).isTrue();
        assertThat(property.group(1)).isEqualTo(bundle().version());
    }

    @Test
    void theTitleNamesTheVersion() {
        assertThat(clang.title()).contains(bundle().version().replaceFirst("-.*", ""));
    }

    @Test
    void everyComputerThatThePomKnowsHasADigest() {
        Matcher natives = Pattern.compile("<natives>([^<]+)</natives>").matcher(pom);
        Set<String> classifiers = natives.results().map(found -> found.group(1)).collect(Collectors.toSet());
        assertThat(classifiers).isEqualTo(bundle().sha256().keySet());
    }

    private CompilerDescriptor.Bundle bundle() {
        return clang.bundle().orElseThrow();
    }
}
