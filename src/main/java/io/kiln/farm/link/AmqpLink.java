// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.farm.link.AmqpMessages.Malformed;
import io.kiln.farm.link.AmqpMessages.Read;
import io.kiln.farm.link.BrokenLink.SeenPeer;
import io.kiln.farm.link.FarmAddress.FarmStores;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.Manner;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.apache.qpid.protonj2.client.Client;
import org.apache.qpid.protonj2.client.ClientOptions;
import org.apache.qpid.protonj2.client.Connection;
import org.apache.qpid.protonj2.client.ConnectionOptions;
import org.apache.qpid.protonj2.client.DeliveryState;
import org.apache.qpid.protonj2.client.DistributionMode;
import org.apache.qpid.protonj2.client.Sender;
import org.apache.qpid.protonj2.client.SenderOptions;
import org.apache.qpid.protonj2.client.StreamDelivery;
import org.apache.qpid.protonj2.client.StreamReceiver;
import org.apache.qpid.protonj2.client.StreamReceiverOptions;
import org.apache.qpid.protonj2.client.Tracker;
import org.apache.qpid.protonj2.client.exceptions.ClientConnectionRemotelyClosedException;
import org.apache.qpid.protonj2.client.exceptions.ClientConnectionSecurityException;
import org.apache.qpid.protonj2.client.exceptions.ClientException;
import org.apache.qpid.protonj2.client.exceptions.ClientOperationTimedOutException;
import org.apache.qpid.protonj2.client.exceptions.ClientResourceRemotelyClosedException;
import org.apache.qpid.protonj2.types.UnsignedLong;

/**
 * A connection to a broker of another make by AMQP 1.0. It uses nothing but what that standard and its registered extensions say: queues, settlement,
 * durability, time to live, priority, the count of failed deliveries, copies for browsing, and the selector of the JMS mapping.
 */
final class AmqpLink implements FarmLink {
    /** Milliseconds of silence after which a peer counts as gone. */
    private static final int SILENCE_MILLIS = 15_000;

    private static final long CALL_MILLIS = 20_000;

    /** How long messages that are only looked at may take to come. */
    private static final Duration NEXT_COPY = Duration.ofMillis(300);

    /** Bytes of messages that may be on their way to this member: it reads them as they come. */
    private static final int WINDOW_BYTES = 4 << 20;

    /** Name and number of the filter that the JMS mapping has registered. */
    private static final String SELECTOR = "apache.org:selector-filter:string";

    private static final UnsignedLong SELECTOR_NUMBER = UnsignedLong.valueOf(0x0000468C00000004L);

    private final FarmAddress address;
    private final Client client;
    private final Connection connection;
    private final AtomicBoolean isLost;
    private final Map<String, Sender> senders = new HashMap<>();

    private AmqpLink(FarmAddress address, Client client, Connection connection, AtomicBoolean isLost) {
        this.address = address;
        this.client = client;
        this.connection = connection;
        this.isLost = isLost;
    }

    /**
     * Connects, and requires that the broker has the farm's queues.
     *
     * @param name by which the broker's owner knows this member
     */
    static AmqpLink open(FarmAddress address, String name) {
        Client client = Client.create(new ClientOptions().id(name + "/" + UUID.randomUUID()));
        AtomicBoolean isLost = new AtomicBoolean();
        try {
            Connection connection = client.connect(
                    address.bareHost(),
                    address.port(),
                    options(address).disconnectedHandler((lost, event) -> isLost.set(true)));
            await(connection.openFuture(), address.patience().toMillis());
            AmqpLink link = new AmqpLink(address, client, connection, isLost);
            link.requireQueues();
            return link;
        } catch (ClientConnectionSecurityException e) {
            client.close();
            throw new KilnException(
                    Failure.FARM.problem(
                            "the farm's broker refuses this member",
                            address.url(),
                            "an account `" + USER + "` with the farm's password, or one for this member's certificate",
                            "Set kiln.farm.password, or have the broker's owner make that account"),
                    e);
        } catch (KilnException e) {
            client.close();
            throw e;
        } catch (ClientConnectionRemotelyClosedException e) {
            client.close();
            // With a condition it is the broker that says it; otherwise the network ended.
            throw e.getErrorCondition() == null
                    ? BrokenLink.lost(address, e)
                    : new FarmLost(
                            Failure.FARM.problem(
                                    "the farm's broker ends the connection: " + e.getMessage(),
                                    address.url(),
                                    "a broker that serves the host " + address.host(),
                                    "Its log says why"),
                            true,
                            e);
        } catch (ClientException | IOException | GeneralSecurityException e) {
            client.close();
            throw BrokenLink.lost(address, e);
        }
    }

    private static ConnectionOptions options(FarmAddress address) throws IOException, GeneralSecurityException {
        ConnectionOptions options = new ConnectionOptions()
                .openTimeout(address.patience().toMillis())
                .requestTimeout(CALL_MILLIS)
                .sendTimeout(CALL_MILLIS)
                .drainTimeout(CALL_MILLIS)
                .closeTimeout(CALL_MILLIS)
                .idleTimeout(SILENCE_MILLIS)
                .user(USER);
        options.transportOptions().allowNativeIO(false).connectTimeout((int)
                address.patience().toMillis());
        address.access().password().ifPresent(password -> {
            options.password(password);
            // With SCRAM the client loses a buffer at each login, so it is for brokers that want it without TLS.
            (address.isEncrypted() ? List.of("PLAIN") : List.of("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"))
                    .forEach(options.saslOptions()::addAllowedMechanism);
        });
        if (address.isEncrypted()) {
            SSLContext context = SSLContext.getInstance("TLS");
            SeenPeer peer = SeenPeer.trusting(address.access().trust().orElseThrow());
            context.init(FarmStores.keys(address.access()), new TrustManager[] {peer}, null);
            options.sslOptions()
                    .sslEnabled(true)
                    .sslContextOverride(context)
                    .verifyHost(true)
                    .enabledProtocols(Transports.PROTOCOLS)
                    .allowNativeSSL(false);
            if (address.access().keys().isPresent()) {
                options.saslOptions().addAllowedMechanism("EXTERNAL");
            }
        }
        return options;
    }

    /** Opens the way to each queue, and says which of them there are not. */
    private void requireQueues() throws ClientException {
        Problems problems = new Problems(Failure.FARM);
        for (String queue : FarmQueues.ALL) {
            // A broker that is full lets senders of jobs and results wait; who only asks has to hear that nobody
            // answers.
            boolean isFleeting = queue.equals(FarmQueues.QUESTIONS) || queue.equals(FarmQueues.NEWS);
            SenderOptions options = new SenderOptions();
            senders.put(queue, connection.openSender(queue, isFleeting ? options.sendTimeout(CALL_MILLIS) : options));
        }
        for (String queue : FarmQueues.ALL) {
            try {
                await(senders.get(queue).openFuture());
            } catch (ClientResourceRemotelyClosedException e) {
                problems.add(
                        "the farm's broker does not let this member send to `" + queue + "`: " + e.getMessage(),
                        address.url(),
                        "a durable queue of that name, and the rights to send and to receive",
                        "The page \"A broker of your own\" says how to set them up");
            }
        }
        problems.throwIfAny();
    }

    /** The result of an operation, or what made it fail. */
    static <T> T await(Future<T> future) throws ClientException {
        return await(future, CALL_MILLIS);
    }

    static <T> T await(Future<T> future, long millis) throws ClientException {
        try {
            return future.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof ClientException cause ? cause : new ClientException(e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClientException("interrupted", e);
        } catch (TimeoutException e) {
            throw new ClientOperationTimedOutException("it does not answer within " + millis / 1000 + " s", e);
        }
    }

    @Override
    public void send(String queue, FarmMessage message) {
        message.requireSendable(address.url());
        DeliveryState state = engaged(() -> {
            Tracker sent = senders.get(queue).send(AmqpMessages.of(message));
            return sent.awaitSettlement(CALL_MILLIS, TimeUnit.MILLISECONDS).remoteState();
        });
        if (state == null || !state.isAccepted()) {
            throw Failure.FARM.exception(
                    "the farm's broker does not take a message of "
                            + message.body().size() + " bytes: " + state,
                    address.url() + ", queue " + queue,
                    "a queue that is not full, and messages of up to " + AmqpMessages.MOST_BYTES + " bytes",
                    "The broker's log says why");
        }
    }

    @Override
    public AmqpInbox inbox(String queue, String filter) {
        return inbox(queue, filter, DistributionMode.MOVE);
    }

    private AmqpInbox inbox(String queue, String filter, DistributionMode mode) {
        StreamReceiverOptions options =
                new StreamReceiverOptions().autoAccept(false).creditWindow(0).readBufferSize(WINDOW_BYTES);
        options.sourceOptions().distributionMode(mode);
        if (!filter.isEmpty()) {
            options.sourceOptions().addFilter(SELECTOR, SELECTOR_NUMBER, filter);
        }
        return engaged(() -> {
            StreamReceiver receiver = connection.openStreamReceiver(queue, options);
            await(receiver.openFuture());
            Map<String, String> applied = receiver.source().filters();
            if (!filter.isEmpty() && (applied == null || !applied.containsKey(SELECTOR))) {
                receiver.close();
                throw selectsNot(queue, filter);
            }
            return new AmqpInbox(this, queue, Condition.of(filter), mode == DistributionMode.MOVE, receiver);
        });
    }

    /** A broker that does not take a filter, or that takes it and gives other messages. */
    KilnException selectsNot(String queue, String filter) {
        return Failure.FARM.exception(
                "the farm's broker cannot select messages: it does not keep to the filter " + filter,
                address.url() + ", queue " + queue,
                "a broker with the filter " + SELECTOR + ", such as Artemis or Qpid",
                "Use another broker, or Kiln's own: kiln:farm");
    }

    @Override
    public List<FarmMessage> browse(String queue, int most) {
        try (AmqpInbox copies = inbox(queue, "", DistributionMode.COPY)) {
            return copies.all(most, NEXT_COPY);
        }
    }

    @Override
    public OptionalLong count(String queue) {
        return OptionalLong.empty();
    }

    @Override
    public boolean isEmbedded() {
        return false;
    }

    @Override
    public boolean isLost() {
        return isLost.get();
    }

    /** Moves a job to the dead ones; its image is of no more use. */
    void bury(FarmMessage job) {
        String id = job.property(FarmQueues.JOB);
        send(FarmQueues.DEAD, new FarmMessage(job.properties(), Bytes.ofText(""), Manner.once(id, Duration.ofDays(1))));
    }

    /** Reports a message that nobody of a farm sends. */
    void refuse(String queue, String why) {
        FarmOrder.REFUSE.send(this, UUID.randomUUID().toString().replace("-", ""), queue, why);
    }

    /** An operation of the client. */
    @FunctionalInterface
    interface Call<T> {
        T get() throws ClientException;
    }

    <T> T engaged(Call<T> call) {
        try {
            return call.get();
        } catch (ClientException e) {
            throw lost(e);
        }
    }

    FarmLost lost() {
        return lost(new IllegalStateException("it says nothing any more"));
    }

    FarmLost lost(Exception reason) {
        return FarmLost.later(address.url(), reason);
    }

    @Override
    public void close() {
        isLost.set(true);
        client.close();
    }

    /**
     * Receives from a broker of another make. It asks for one message at a time, so that no message waits at a member that is busy; what nobody of a farm
     * sends is taken out of the queue and reported; and a job that has cost as many workers as it may is moved to the dead ones, which brokers do in
     * different ways, if at all.
     */
    static final class AmqpInbox implements FarmInbox {
        private static final long DRAIN_MILLIS = 300;

        private final AmqpLink link;
        private final String queue;
        private final StreamReceiver receiver;
        private final List<StreamDelivery> unfinished = new ArrayList<>();
        private final Condition condition;
        private final boolean isTaking;
        private boolean hasAsked;

        /**
         * @param condition which messages the broker was asked for
         * @param isTaking whether messages leave the queue, rather than copies of them
         */
        AmqpInbox(AmqpLink link, String queue, Condition condition, boolean isTaking, StreamReceiver receiver) {
            this.link = link;
            this.condition = condition;
            this.isTaking = isTaking;
            this.queue = queue;
            this.receiver = receiver;
        }

        @Override
        public Optional<Received> receive(Duration patience) {
            long end = System.nanoTime() + patience.toNanos();
            long left = patience.toNanos();
            while (left > 0) {
                Optional<StreamDelivery> next = next(left);
                if (next.isEmpty()) {
                    if (link.isLost()) {
                        throw link.lost();
                    }
                    return Optional.empty();
                }
                Optional<Received> received = received(next.get());
                if (received.isPresent()) {
                    return received;
                }
                left = end - System.nanoTime();
            }
            return Optional.empty();
        }

        private Optional<StreamDelivery> next(long nanos) {
            return link.engaged(() -> {
                if (!hasAsked) {
                    receiver.addCredit(1);
                    hasAsked = true;
                }
                long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
                Optional<StreamDelivery> next = Optional.ofNullable(receiver.receive(millis, TimeUnit.MILLISECONDS));
                hasAsked = next.isEmpty();
                return next;
            });
        }

        /** A message; empty for one that is none of a farm, or whose job is dead. */
        private Optional<Received> received(StreamDelivery delivery) {
            try {
                Read read = AmqpMessages.read(bytes(delivery));
                if (!condition.holds(read.message())) {
                    link.engaged(delivery::release);
                    throw link.selectsNot(queue, condition.toString());
                }
                if (queue.equals(FarmQueues.JOBS) && read.tries() >= FarmQueues.TRIES) {
                    link.bury(read.message());
                    accept(delivery);
                    return Optional.empty();
                }
                unfinished.add(delivery);
                return Optional.of(new Received(read.message(), () -> {
                    accept(delivery);
                    unfinished.remove(delivery);
                }));
            } catch (Malformed e) {
                // Brokers offer a rejected message again, some of them for ever.
                accept(delivery);
                link.refuse(queue, e.getMessage());
                return Optional.empty();
            }
        }

        private byte[] bytes(StreamDelivery delivery) throws Malformed {
            try (InputStream in = link.engaged(delivery::rawInputStream)) {
                byte[] bytes = in.readNBytes(AmqpMessages.MOST_BYTES + 1);
                if (bytes.length > AmqpMessages.MOST_BYTES) {
                    throw new Malformed("a message of more than " + AmqpMessages.MOST_BYTES + " bytes");
                }
                return bytes;
            } catch (IOException e) {
                throw link.lost(e);
            }
        }

        private void accept(StreamDelivery delivery) {
            link.engaged(delivery::accept);
        }

        /** The messages that come until the broker has none, at most some. */
        List<FarmMessage> all(int most, Duration patience) {
            List<FarmMessage> found = new ArrayList<>();
            Optional<Received> next = receive(patience);
            while (next.isPresent()) {
                next.get().done().run();
                found.add(next.get().message());
                next = found.size() < most ? receive(patience) : Optional.empty();
            }
            return found;
        }

        /** Tells the broker to send no more, and takes what is on its way: given back, it does not count as tried. Not all brokers answer. */
        private void takeBack() throws ClientException {
            try {
                AmqpLink.await(receiver.drain(), DRAIN_MILLIS);
            } catch (ClientOperationTimedOutException e) {
                // A job that comes just now counts as tried. There are no others on their way.
                hasAsked = true;
            }
            Optional.ofNullable(receiver.tryReceive()).ifPresent(unfinished::add);
        }

        @Override
        public void close() {
            if (link.isLost()) {
                return;
            }
            link.engaged(() -> {
                if (hasAsked && isTaking && queue.equals(FarmQueues.JOBS)) {
                    takeBack();
                }
                for (StreamDelivery delivery : unfinished) {
                    delivery.release();
                }
                AmqpLink.await(receiver.closeAsync());
                return true;
            });
        }
    }

    /**
     * By what a member selects messages, as it reads the condition that it gave to the broker: some brokers say that they select, and do not.
     *
     * @param wanted values by property
     * @param taker who may have jobs that are not for everybody; empty if it does not matter
     */
    record Condition(Map<String, Set<String>> wanted, String taker) {
        private static final Pattern PART = Pattern.compile("([a-z]+) (?:=|IN) \\(?('[^']*'(?:, '[^']*')*)\\)?");
        private static final Pattern TAKER = Pattern.compile("takers LIKE '%(,[^']*,)%'");
        private static final Pattern VALUE = Pattern.compile("'([^']*)'");

        /** Reads {@code client = 'x'} or {@code place = 'x' AND board IN ('y', 'z')}, the latter perhaps with {@link FarmQueues#mayTake}; empty for all messages. */
        static Condition of(String filter) {
            Map<String, Set<String>> wanted = new HashMap<>();
            Matcher part = PART.matcher(filter);
            while (part.find()) {
                Set<String> values = new TreeSet<>();
                Matcher value = VALUE.matcher(part.group(2));
                while (value.find()) {
                    values.add(value.group(1));
                }
                wanted.put(part.group(1), values);
            }
            Matcher taker = TAKER.matcher(filter);
            return new Condition(wanted, taker.find() ? taker.group(1) : "");
        }

        /** Whether a message is one of those. */
        boolean holds(FarmMessage message) {
            String takers = message.property(FarmQueues.TAKERS);
            return wanted.entrySet().stream()
                            .allMatch(each -> each.getValue().contains(message.property(each.getKey())))
                    && (takers.isEmpty() || takers.contains(taker));
        }

        @Override
        public String toString() {
            return wanted.toString();
        }
    }
}
