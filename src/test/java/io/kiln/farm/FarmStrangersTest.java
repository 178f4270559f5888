// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.farm.worker.WorkerSetup.Offer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who must not get in does not, and a farm goes on whatever they send. */
final class FarmStrangersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final KeptLog LOG = new KeptLog();

    @TempDir
    private static Path folder;

    private static FarmKeys keys;
    private static FarmBroker byCertificate;
    private static FarmBroker byPassword;

    @BeforeAll
    static void startFarms() throws IOException, GeneralSecurityException {
        keys = FarmKeys.make(folder);
        byCertificate = FarmBroker.start(
                folder.resolve("one"), at(keys.access("broker", "members", Optional.empty())), LOG, event -> {});
        byPassword = FarmBroker.start(
                folder.resolve("two"),
                at(new FarmAccess(Optional.of(keys.store("broker")), Optional.empty(), Optional.of("tea and scones"))),
                LOG,
                event -> {});
    }

    private static FarmAddress at(FarmAccess access) {
        return FarmAddress.parse("tls://localhost:0", access);
    }

    private static FarmAddress at(FarmBroker broker, FarmAccess access) {
        return FarmAddress.parse(broker.address().url(), access);
    }

    @AfterAll
    static void stopFarms() {
        byCertificate.close();
        byPassword.close();
    }

    /** The farm goes on: a member's job is answered. */
    private static void assertServes(FarmBroker broker, FarmAccess access) {
        FarmAddress address = at(broker, access);
        WorkerSetup setup = new WorkerSetup(
                address,
                new Identity("w", "1.0.0", Labels.NONE),
                List.of(Offer.emulator("b", "test")),
                1,
                new BoardLeases(folder, Clock.systemUTC(), BoardLeases.USUAL_TERM));
        try (Worker worker = Worker.start(setup, new DigestRunner("w"), Log.QUIET);
                FarmClient client = FarmClient.connect(address, FarmTerms.of(PATIENCE), Log.QUIET)) {
            assertThat(client.run(List.of(DigestRunner.digest("b", 1, "x")))).hasSize(1);
            assertThat(worker.done()).isNotNegative();
        }
    }

    /** It answers what nobody asked for, under a name that says nothing. */
    @Test
    void a_liar_is_held_by_its_certificate() {
        FarmAddress address = at(byCertificate, keys.access("member", "brokers", Optional.empty()));
        try (FarmLink forger = FarmLink.open(address, new FarmMember("1.0.0", "forger", "0"))) {
            for (int i = 0; i < 3; i++) {
                Map<String, String> properties =
                        Map.of(FarmQueues.JOB, FarmJob.newId(), FarmQueues.CLIENT, FarmJob.newId());
                forger.send(
                        FarmQueues.ANSWERS,
                        new FarmMessage(properties, Bytes.ofText("x"), Manner.once(FarmJob.newId(), PATIENCE)));
            }
        }
        assertThat(byCertificate.desk().held()).extracting(Hold::unit).containsExactly("CN=member");
        assertThat(byCertificate.desk().release("CN=member")).isTrue();
    }

    @Test
    void certificates_decide() {
        assertServes(byCertificate, keys.access("member", "brokers", Optional.empty()));
        assertThatThrownBy(() -> FarmLink.open(at(byCertificate, keys.access("stranger", "brokers", Optional.empty()))))
                .isInstanceOf(FarmLost.class);
        assertServes(byCertificate, keys.access("member", "brokers", Optional.empty()));
    }

    @Test
    void or_a_password_does() {
        assertServes(byPassword, keys.password("tea and scones"));
        assertThatThrownBy(() -> FarmLink.open(at(byPassword, keys.password("coffee"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("refuses this member");
        assertThatThrownBy(() -> FarmLink.open(at(byPassword, keys.access("stranger", "brokers", Optional.empty()))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("refuses this member");
    }

    @Test
    void without_tls_a_farm_stays_on_its_computer() {
        assertThatThrownBy(() -> FarmBroker.start(
                        folder.resolve("three"),
                        FarmAddress.parse("tcp://0.0.0.0:0", DigestWorkerProgram.MEMBER),
                        LOG,
                        event -> {}))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("refused: a farm on another computer without TLS");
        assertThatThrownBy(
                        () -> FarmLink.open(FarmAddress.parse("tcp://lab.example:61616", DigestWorkerProgram.MEMBER)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("tls://lab.example:61616");
        assertThatThrownBy(() -> FarmBroker.start(
                        folder.resolve("three"),
                        at(new FarmAccess(Optional.of(keys.store("broker")), Optional.empty(), Optional.empty())),
                        LOG,
                        event -> {}))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a broker that lets everybody in");
    }

    @Test
    void frames_and_messages_of_a_gigabyte_are_refused() throws IOException {
        FarmAddress here = FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER);
        try (FarmBroker broker = FarmBroker.start(folder.resolve("four"), here, Log.QUIET, event -> {})) {
            assertCutOff(
                    broker,
                    ByteBuffer.allocate(8).putInt(1 << 30).putInt(0x01010101).array());
            assertCutOff(
                    broker, ByteBuffer.allocate(8).putInt(-1).putInt(0x01010101).array());
            try (FarmLink link = FarmLink.open(broker.address())) {
                Bytes large = Bytes.wrap(new byte[FarmQueues.MOST_BYTES + 1]);
                assertThatThrownBy(() ->
                                link.send(FarmQueues.JOBS, new FarmMessage(Map.of(), large, Manner.fleeting(PATIENCE))))
                        .isInstanceOf(KilnException.class)
                        .hasMessageContaining("is too large for a farm");
                assertThatThrownBy(() -> link.inbox("activemq.management", "")).isInstanceOf(KilnException.class);
            }
            assertServes(broker, DigestWorkerProgram.MEMBER);
        }
    }

    /** The broker ends the connection long before a gigabyte has come. */
    private static void assertCutOff(FarmBroker broker, byte[] first) throws IOException {
        try (Socket socket = new Socket("localhost", broker.address().port())) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            OutputStream out = socket.getOutputStream();
            out.write(first);
            out.flush();
            InputStream in = socket.getInputStream();
            byte[] said = in.readNBytes(1 << 16);
            assertThat(said.length).isLessThan(1 << 16);
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }
}
