// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.LocalToken;
import io.kiln.farm.link.FarmLink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of a farm without TLS share a secret that only its owner reads. */
final class LocalTokenTest {
    @TempDir
    private Path home;

    @Test
    void whoever_comes_first_makes_it() throws IOException {
        assertThat(IntStream.range(0, 8)
                        .parallel()
                        .mapToObj(i -> LocalToken.of(home))
                        .distinct())
                .singleElement()
                .asString()
                .matches("[0-9a-f]{64}");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve(LocalToken.FILE))))
                .isEqualTo("rw-------");
        assertThat(LocalToken.of(home)).isNotEqualTo(LocalToken.of(home.resolve("other")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw----r--", "rw-rw-rw-", "rw--w----"})
    void it_is_refused_when_others_may_have_it(String mode) throws IOException {
        LocalToken.of(home);
        Files.setPosixFilePermissions(home.resolve(LocalToken.FILE), PosixFilePermissions.fromString(mode));
        assertThatThrownBy(() -> LocalToken.of(home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("refused: others may read or change");
    }

    @Test
    void so_is_a_link_and_a_damaged_one() throws IOException {
        LocalToken.of(home.resolve("other"));
        Path token = home.resolve(LocalToken.FILE);
        Files.createSymbolicLink(token, home.resolve("other").resolve(LocalToken.FILE));
        assertThatThrownBy(() -> LocalToken.of(home)).isInstanceOf(KilnException.class);
        Files.delete(token);
        LocalToken.of(home);
        Files.writeString(token, "");
        assertThatThrownBy(() -> LocalToken.of(home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("not the token of a farm");
    }

    @Test
    void another_token_does_not_open_a_farm() {
        FarmAddress own = FarmAddress.parse("tcp://localhost:0", FarmAccess.by(LocalToken.of(home)));
        try (FarmBroker broker = FarmBroker.start(home.resolve("farm"), own, new KeptLog(), event -> {})) {
            FarmLink.open(broker.address()).close();
            FarmAccess other = FarmAccess.by(LocalToken.of(home.resolve("other")));
            assertThatThrownBy(() ->
                            FarmLink.open(FarmAddress.parse(broker.address().url(), other)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("refuses this member")
                    .hasMessageContaining("the file farm.token in the kiln.home of whoever started the broker");
        }
    }
}
