// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The script of the page "Operate a farm": what it makes lets a farm's members in, and renewing one changes nothing for the others. */
@EnabledIfSystemProperty(named = "kiln.farm.packets", matches = "all")
final class FarmTlsScriptTest {
    @TempDir
    private Path folder;

    private String run(String made, String hosts, String... members) throws IOException {
        Path script = Path.of("src", "site", "resources", "farm", "farm-tls.sh").toAbsolutePath();
        Command command = Command.of(
                        "sh",
                        Stream.concat(
                                        Stream.of(
                                                script.toString(),
                                                folder.resolve(made).toString(),
                                                hosts),
                                        Stream.of(members))
                                .toList())
                .within(Duration.ofMinutes(5));
        return ProcessRunner.run(command).output();
    }

    private FarmAccess access(String made, String name) throws IOException {
        Path stores = folder.resolve(made);
        String password = Files.readString(stores.resolve("password"));
        return new FarmAccess(
                Optional.of(new Store(stores.resolve(name + ".p12"), password)),
                Optional.of(new Store(stores.resolve("trust.p12"), password)),
                Optional.empty());
    }

    @Test
    void members_of_one_authority_meet_and_no_others() throws IOException {
        assertThat(run("one", "localhost,127.0.0.1", "ada")).contains("valid for 365 days: broker for localhost");
        run("two", "localhost", "eve");
        try (FarmBroker broker = FarmBroker.start(
                folder.resolve("farm"),
                FarmAddress.parse("tls://localhost:0", access("one", "broker")),
                Log.QUIET,
                event -> {})) {
            String url = broker.address().url();
            FarmLink.open(FarmAddress.parse(url, access("one", "ada"))).close();
            FarmLink.open(FarmAddress.parse(url.replace("localhost", "127.0.0.1"), access("one", "ada")))
                    .close();
            assertThatThrownBy(() -> FarmLink.open(FarmAddress.parse(url, access("two", "eve"))))
                    .isInstanceOf(FarmLost.class)
                    .hasMessageContaining(
                            "the broker's certificate CN=broker, signed by CN=farm authority, is not trusted");
            byte[] before = Files.readAllBytes(folder.resolve("one/ada.p12"));
            run("one", "localhost", "ada");
            assertThat(Files.readAllBytes(folder.resolve("one/ada.p12"))).isNotEqualTo(before);
            FarmLink.open(FarmAddress.parse(url, access("one", "ada"))).close();
        }
    }
}
