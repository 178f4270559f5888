// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashImage.Segment;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.Probe;
import io.kiln.flow.device.FlashRunners.ServiceRunner;
import io.kiln.spi.ExtensionFailure;
import io.kiln.spi.ImageRunner;
import io.kiln.toolchain.board.Flashing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service that somebody wrote flashes boards; what it cannot do is told of the board that it concerns. */
class ServiceRunnerTest {
    /** Keeps the flash of each probe as a file of the folder that its options name. */
    public static final class KeptFiles implements ImageRunner {
        @Override
        public String name() {
            return "files";
        }

        @Override
        public String tool() {
            return "files 1";
        }

        @Override
        public List<String> probes(Map<String, String> options) {
            return List.of(options.get("probes").split(" ", -1));
        }

        @Override
        public void flash(String probe, List<Block> image, Map<String, String> options) {
            if (probe.equals("broken")) {
                throw new ExtensionFailure("the cable is loose", probe, "", "Push it in");
            }
            byte[] bytes = new byte[image.get(0).content().remaining()];
            image.get(0).content().get(bytes);
            try {
                Files.write(
                        Path.of(
                                options.get("folder"),
                                probe + "-" + image.get(0).address()),
                        bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @TempDir
    private Path folder;

    private URLClassLoader services;

    @BeforeEach
    void registered() throws IOException {
        Path names = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(names.resolve(ImageRunner.class.getName()), KeptFiles.class.getName());
        services = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
    }

    @AfterEach
    void close() throws IOException {
        services.close();
    }

    private FlashRunner open(String name, String probes, String asked) {
        Map<String, String> options = Map.of("probes", probes, "folder", folder.toString());
        return ServiceRunner.open(new Flashing.Service(name, options), Optional.of(asked), services);
    }

    @Test
    void everyProbeThatIsAskedForGetsTheImage() throws IOException {
        FlashImage image = FlashImage.of(List.of(new Segment(16, Bytes.ofText("image"))));
        try (FlashRunner runner = open("files", "left broken right", "all")) {
            assertThat(runner.tool()).isEqualTo("files 1");
            List<FlashResult> results = runner.probes().stream()
                    .map(probe -> runner.flash(probe, image, FlashProgress.QUIET))
                    .toList();
            assertThat(results).extracting(FlashResult::verdict).containsExactly("flashed", "failed", "flashed");
            assertThat(results.get(1).failure().orElseThrow().text()).contains("the cable is loose. Push it in");
        }
        assertThat(folder.resolve("left-16")).hasContent("image");
        assertThat(folder.resolve("right-16")).hasContent("image");
        assertThat(open("files", "left right", "right").probes()).containsExactly(new Probe.Serial("right"));
        assertThat(open("files", "left", "").probes()).containsExactly(new Probe.Serial("left"));
    }

    @Test
    void whatIsMissingOrUnclearIsTold() {
        assertThatThrownBy(() -> open("other", "left", ""))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no runner of images `other`");
        assertThatThrownBy(() -> open("files", "left right", ""))
                .hasMessageContaining("the probe is not clear; expected all, or some of left, right");
        assertThatThrownBy(() -> open("files", "left right", "middle")).hasMessageContaining("left, right");
    }
}
