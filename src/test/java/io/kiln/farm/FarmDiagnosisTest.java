// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.watch.StatusServer;
import io.kiln.farm.watch.StatusServer.FarmFigures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way in which a member and a broker do not come together is told by its own message, with what to do. */
final class FarmDiagnosisTest {
    private static final KeptLog LOG = new KeptLog();

    @TempDir
    private static Path folder;

    private static FarmKeys keys;
    private static FarmBroker broker;

    @BeforeAll
    static void startFarm() throws IOException, GeneralSecurityException {
        keys = FarmKeys.make(folder);
        keys.pair("old", "localhost", "-startdate", "-3d", "-validity", "1");
        keys.pair("early", "localhost", "-startdate", "+3d");
        keys.pair("elsewhere", "lab.example");
        keys.trust("old-ones", "old");
        keys.trust("other-hosts", "elsewhere");
        broker = FarmBroker.start(
                folder.resolve("one"),
                FarmAddress.parse("tls://localhost:0", keys.access("broker", "members", Optional.empty())),
                LOG,
                event -> {});
    }

    @AfterAll
    static void stopFarm() {
        broker.close();
    }

    private static AbstractThrowableAssert<?, ?> opening(String scheme, int port, FarmAccess access) {
        return assertThatThrownBy(() -> FarmLink.open(FarmAddress.parse(scheme + "://localhost:" + port, access)))
                .isInstanceOf(KilnException.class);
    }

    private static AbstractThrowableAssert<?, ?> joining(String own, String trust) {
        return opening("tls", broker.address().port(), keys.access(own, trust, Optional.empty()));
    }

    private static Instant end(String name) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(
                keys.store(name).file().toFile(), keys.store(name).password().toCharArray());
        return ((X509Certificate) store.getCertificate(name)).getNotAfter().toInstant();
    }

    @Test
    void an_authority_that_nobody_knows() {
        joining("member", "members")
                .isInstanceOf(FarmLost.class)
                .hasMessageContaining("the broker's certificate CN=broker, signed by CN=broker, is not trusted")
                .hasMessageContaining(
                        "in kiln.farm.trustStore " + keys.store("members").file())
                .hasMessageContaining("keytool -importcert");
    }

    @Test
    void a_member_that_the_broker_does_not_trust() {
        joining("stranger", "brokers")
                .isInstanceOf(FarmLost.class)
                .hasMessageContaining("the broker does not trust this member's certificate")
                .hasMessageContaining(keys.store("stranger").file().toString());
        opening("tls", broker.address().port(), keys.password("anything"))
                .hasMessageContaining("the broker wants a certificate of this member");
        assertThat(LOG.warnings()).anyMatch(line -> line.endsWith(": it shows no certificate that the farm trusts"));
    }

    @Test
    void certificates_of_members_that_are_not_valid_today() throws Exception {
        joining("old", "brokers")
                .hasMessageContaining("the certificate CN=old expired on " + end("old"))
                .hasMessageContaining("kiln.farm.keyStore " + keys.store("old").file());
        joining("early", "brokers").hasMessageContaining("the certificate CN=early is not valid before 2");
    }

    /** Java lets in a certificate that is trusted itself whatever its dates are. */
    @Test
    void the_broker_looks_at_dates_of_those_whom_it_trusts() throws Exception {
        FarmAccess trusting = new FarmAccess(
                Optional.of(keys.store("broker")), Optional.of(keys.store("old-ones")), Optional.empty());
        KeptLog log = new KeptLog();
        try (FarmBroker other = FarmBroker.start(
                        folder.resolve("two"), FarmAddress.parse("tls://localhost:0", trusting), log, event -> {});
                RawMember old = RawMember.greet(other.address().port(), Optional.of(keys.context("old", "brokers")))) {
            assertThat(old.isEnded()).isTrue();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .endsWith(": its certificate CN=old expired on " + end("old"));
        }
    }

    @Test
    void a_broker_whose_own_certificate_has_expired_does_not_start() throws Exception {
        String expired = "the certificate CN=old expired on " + end("old");
        assertThatThrownBy(() -> FarmBroker.start(
                        folder.resolve("three"),
                        FarmAddress.parse("tls://localhost:0", keys.access("old", "members", Optional.empty())),
                        Log.QUIET,
                        event -> {}))
                .hasMessageContaining(expired);
    }

    /** One that has expired since it was started, or is not Kiln's. */
    @Test
    void a_broker_that_expired_or_is_of_another_host() throws Exception {
        try (SSLServerSocket old = serve("old");
                SSLServerSocket elsewhere = serve("elsewhere")) {
            for (String scheme : List.of("tls", "amqps")) {
                opening(scheme, old.getLocalPort(), keys.access("member", "old-ones", Optional.empty()))
                        .isInstanceOf(FarmLost.class)
                        .hasMessageContaining("the broker's certificate CN=old expired on " + end("old"));
                opening(scheme, elsewhere.getLocalPort(), keys.access("member", "other-hosts", Optional.empty()))
                        .isInstanceOf(FarmLost.class)
                        .hasMessageContaining(
                                "the broker's certificate CN=elsewhere was not issued for the host localhost; expected"
                                        + " one of the hosts it was issued for: lab.example")
                        .hasMessageContaining("-ext SAN=dns:localhost");
            }
        }
    }

    private static SSLServerSocket serve(String name) throws IOException, GeneralSecurityException {
        SSLServerSocket server = (SSLServerSocket) keys.context(name, "members")
                .getServerSocketFactory()
                .createServerSocket(0, 9, InetAddress.getLoopbackAddress());
        answer(server, socket -> socket.getInputStream().transferTo(socket.getOutputStream()));
        return server;
    }

    private interface Answer {
        void to(Socket socket) throws IOException;
    }

    private static void answer(ServerSocket server, Answer answer) {
        Thread thread = new Thread(
                () -> Stream.generate(() -> server)
                        .takeWhile(each -> !each.isClosed())
                        .forEach(each -> answer(answer, each)),
                "other");
        thread.setDaemon(true);
        thread.start();
    }

    private static void answer(Answer answer, ServerSocket server) {
        try (Socket socket = server.accept()) {
            answer.to(socket);
        } catch (SocketException | SSLException e) {
            assertThat(e).as("this one left; the next one may come").isNotNull();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void passwords_of_stores() throws IOException {
        Store own = keys.store("member");
        Store trusted = keys.store("brokers");
        Path noStore = Files.writeString(folder.resolve("no.p12"), "no store");
        int port = broker.address().port();
        opening(
                        "tls",
                        port,
                        new FarmAccess(
                                Optional.of(new Store(own.file(), "tea")),
                                Optional.of(new Store(trusted.file(), "scones")),
                                Optional.empty()))
                .hasMessageContaining("kiln.farm.keyStore " + own.file() + ": its password is another one")
                .hasMessageContaining("Set kiln.farm.keyStorePassword")
                .hasMessageContaining("kiln.farm.trustStore " + trusted.file() + ": its password is another one");
        opening(
                        "tls",
                        port,
                        new FarmAccess(
                                Optional.of(new Store(noStore, "tea")),
                                Optional.of(new Store(own.file(), own.password())),
                                Optional.empty()))
                .hasMessageContaining("kiln.farm.keyStore " + noStore + ": not a store")
                .hasMessageContaining("there is no certificate to trust in it");
        assertThatThrownBy(() -> FarmBroker.start(
                        folder.resolve("three"),
                        FarmAddress.parse(
                                "tls://localhost:0",
                                new FarmAccess(
                                        Optional.of(new Store(own.file(), "tea")),
                                        Optional.of(trusted),
                                        Optional.empty())),
                        Log.QUIET,
                        event -> {}))
                .hasMessageContaining("its password is another one");
    }

    @Test
    void no_listener_no_host_and_plain_against_tls() throws IOException {
        FarmAccess access = keys.access("member", "brokers", Optional.empty());
        int free;
        try (ServerSocket unused = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = unused.getLocalPort();
        }
        opening("tls", free, access).hasMessageContaining("nothing listens there; expected a broker. Start one");
        opening("tcp", free, DigestWorkerProgram.MEMBER).hasMessageContaining("nothing listens there");
        opening("amqp", free, DigestWorkerProgram.MEMBER)
                .hasMessageContaining("nothing listens there; expected a broker that speaks AMQP 1.0. Start it");
        assertThatThrownBy(() -> FarmLink.open(FarmAddress.parse("tls://no-such-host.invalid:1", access)))
                .hasMessageContaining("nobody knows the host no-such-host.invalid");
        opening("tcp", broker.address().port(), DigestWorkerProgram.MEMBER)
                .hasMessageContaining("it wants TLS; expected tls://localhost:");
        try (FarmBroker plain = FarmBroker.start(
                        folder.resolve("four"),
                        FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER),
                        Log.QUIET,
                        event -> {});
                ServerSocket http = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            opening("tls", plain.address().port(), access)
                    .hasMessageContaining("it does not speak TLS")
                    .hasMessageContaining("kiln.farm.listen=tls://localhost:");
            answer(http, socket -> {
                socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                socket.getInputStream().read(new byte[1 << 12]);
            });
            opening("tls", http.getLocalPort(), access).hasMessageContaining("it does not speak TLS");
            opening("tcp", http.getLocalPort(), DigestWorkerProgram.MEMBER)
                    .hasMessageContaining("something listens there, but it is no broker");
        }
    }

    /** A busy broker ends a handshake for which it had no time; that is no reason to give it up. */
    @Test
    void a_broker_without_time_is_waited_for() throws IOException {
        FarmAccess access = keys.access("member", "brokers", Optional.empty());
        try (ServerSocket busy = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            answer(busy, socket -> {
                socket.getInputStream().read(new byte[1 << 12]);
                LockSupport.parkNanos(Duration.ofMillis(600).toNanos());
            });
            FarmAddress slow = FarmAddress.parse("tls://localhost:" + busy.getLocalPort(), access)
                    .within(Duration.ofSeconds(1));
            assertThatThrownBy(() -> FarmLink.open(slow))
                    .isInstanceOfSatisfying(
                            FarmLost.class, lost -> assertThat(lost.isAbsent()).isTrue())
                    .hasMessageContaining("it does not answer within 1 s")
                    .hasMessageContaining("set kiln.farm.connectTimeout");
        }
    }

    @Test
    void figures_are_for_members_only() throws Exception {
        keys.trust("old-and-members", "old");
        FarmAddress farm = FarmAddress.parse("tls://localhost:0", keys.access("broker", "members", Optional.empty()));
        FarmAddress toOld =
                FarmAddress.parse("tls://localhost:0", keys.access("broker", "old-and-members", Optional.empty()));
        StatusServer.Content content = new StatusServer.Content(
                new FarmFigures(Optional.of(end("broker"))), () -> List.of("not well"), () -> "{}", () -> "");
        try (StatusServer server = StatusServer.start(StatusServer.address("https://localhost:0", farm), content);
                StatusServer other = StatusServer.start(StatusServer.address("https://localhost:0", toOld), content)) {
            HttpsURLConnection member = ask(server, "/metrics", keys.context("member", "brokers"));
            assertThat(new String(member.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("kiln_farm_certificate_end_timestamp_seconds "
                            + (double) end("broker").getEpochSecond());
            assertThat(ask(server, "/health", keys.context("member", "brokers")).getResponseCode())
                    .isEqualTo(503);
            assertThatThrownBy(() -> ask(server, "/health", keys.context("stranger", "brokers"))
                            .getResponseCode())
                    .isInstanceOf(IOException.class);
            assertThat(ask(other, "/health", keys.context("old", "brokers")).getResponseCode())
                    .isEqualTo(403);
        }
    }

    private static HttpsURLConnection ask(StatusServer server, String path, SSLContext asWhom) throws IOException {
        HttpsURLConnection connection =
                (HttpsURLConnection) server.url().resolve(path).toURL().openConnection();
        connection.setSSLSocketFactory(asWhom.getSocketFactory());
        return connection;
    }
}
