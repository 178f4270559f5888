# SPDX-License-Identifier: Apache-2.0
"""The boot loader in ROM of an STM32F40x (ST's application note AN3155) at a pseudo terminal, whose name it prints first.

Usage: stm32_boot_loader.py FILE [FLIPPED]: FILE gets the flash when the program is started; reading the address FLIPPED gives another byte.
"""
import os
import pty
import sys
import tty

ACK, NACK = b"\x79", b"\x1f"
START, SIZE = 0x08000000, 1 << 20
SECTORS = [16 << 10] * 4 + [64 << 10] + [128 << 10] * 7
flash = bytearray(b"\xff" * SIZE)
flipped = int(sys.argv[2], 0) if len(sys.argv) > 2 else -1
line, port = pty.openpty()
tty.setraw(port)
print(os.ttyname(port), flush=True)


def read(count):
    data = b""
    while len(data) < count:
        data += os.read(line, count - len(data))
    return data


def say(data):
    os.write(line, data)


def address():
    data = read(5)
    if data[0] ^ data[1] ^ data[2] ^ data[3] != data[4]:
        say(NACK)
        return None
    say(ACK)
    return int.from_bytes(data[:4], "big")


def get_memory():
    start = address()
    count = read(2)[0] + 1
    say(ACK)
    if start >= START:
        content = bytearray(flash[start - START:start - START + count])
        if start <= flipped < start + count:
            content[flipped - start] ^= 1
    else:
        content = bytes(count)
    say(bytes(content))


def set_memory():
    start = address()
    count = read(1)[0] + 1
    data = read(count + 1)
    check = count - 1
    for byte in data:
        check ^= byte
    if check or not START <= start <= START + SIZE - count:
        return say(NACK)
    for i in range(count):
        flash[start - START + i] &= data[i]
    return say(ACK)


def erase():
    count = int.from_bytes(read(2), "big")
    if count >= 0xFFF0:
        read(1)
        flash[:] = b"\xff" * SIZE
        return say(ACK)
    data = read(2 * (count + 1) + 1)
    for i in range(count + 1):
        sector = int.from_bytes(data[2 * i:2 * i + 2], "big")
        at = sum(SECTORS[:sector])
        flash[at:at + SECTORS[sector]] = b"\xff" * SECTORS[sector]
    return say(ACK)


while True:
    command = read(1)[0]
    if command == 0x7F:
        say(ACK)
        continue
    if read(1)[0] != command ^ 0xFF:
        say(NACK)
        continue
    say(ACK)
    if command == 0x00:
        codes = bytes([0x31, 0x00, 0x01, 0x02, 0x11, 0x21, 0x31, 0x44, 0x63, 0x73, 0x82, 0x92])
        say(bytes([len(codes) - 1]) + codes + ACK)
    elif command == 0x01:
        say(b"\x31\x00\x00" + ACK)
    elif command == 0x02:
        say(b"\x01\x04\x13" + ACK)
    elif command == 0x11:
        get_memory()
    elif command == 0x31:
        set_memory()
    elif command == 0x44:
        erase()
    elif command == 0x21:
        address()
        with open(sys.argv[1], "wb") as out:
            out.write(flash)
