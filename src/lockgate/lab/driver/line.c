/* Requests and replies as text: tokens in, tokens out. */
#define _POSIX_C_SOURCE 200809L

#include "line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

static void append(struct request *request, const char *text, size_t length)
{
    if (request->full || length >= sizeof(request->text) - request->length) {
        request->full = true;
        return;
    }
    memcpy(request->text + request->length, text, length);
    request->length += length;
    request->text[request->length] = '\0';
}

void request_begin(struct request *request, const char *function)
{
    request->length = 0;
    request->full = false;
    append(request, function, strlen(function));
}

void request_integer(struct request *request, unsigned long long value)
{
    char digits[32];
    append(request, digits, (size_t)snprintf(digits, sizeof(digits), " %llu", value));
}

static bool plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != 0 && strchr("._-:/,", c));
}

void request_text(struct request *request, const char *text)
{
    append(request, " '", 2);
    for (; *text; text++) {
        char escaped[4];
        if (plain((unsigned char)*text))
            append(request, text, 1);
        else
            append(request, escaped, (size_t)snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned char)*text));
    }
}

void request_object(struct request *request, const struct object *object)
{
    char number[16];
    for (unsigned i = 0; i < object->depth; i++)
        append(request, number,
               (size_t)snprintf(number, sizeof(number), "%s%u", i ? "/" : " @", object->path[i]));
}

/* ---- replies ---- */

/* The next word, cut off with a NUL; NULL at the end. */
static char *next_word(struct reply *reply)
{
    char *word = reply->cursor + strspn(reply->cursor, " ");
    if (!*word)
        return NULL;
    reply->cursor = word + strcspn(word, " ");
    if (*reply->cursor)
        *reply->cursor++ = '\0';
    return word;
}

static bool all_digits(const char *word)
{
    size_t length = strlen(word);
    return length > 0 && length <= 20 && strspn(word, "0123456789") == length;
}

bool reply_unsigned(struct reply *reply, unsigned long long *value)
{
    const char *word = next_word(reply);
    if (!word || !all_digits(word))
        return false;
    errno = 0;
    *value = strtoull(word, NULL, 10);
    return errno == 0;
}

bool reply_signed(struct reply *reply, long long *value)
{
    const char *word = next_word(reply);
    if (!word || !all_digits(word + (*word == '-')))
        return false;
    errno = 0;
    *value = strtoll(word, NULL, 10);
    return errno == 0;
}

bool reply_object(struct reply *reply, struct object *object)
{
    char *word = next_word(reply);
    if (!word || *word != '@')
        return false;
    for (object->depth = 0; object->depth < 3; object->depth++) {
        char *end;
        unsigned long number = strtoul(++word, &end, 10);
        if (end == word || end - word > 4 || *word < '0' || *word > '9')
            return false;
        object->path[object->depth] = (unsigned)number;
        word = end;
        if (*word != '/')
            break;
    }
    object->depth++;
    return object->depth <= 3 && *word == '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX in place; false when it is malformed or hides a NUL. */
static bool unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        char c = *text;
        if (c == '%') {
            int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high * 16 + low);
            text += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

bool reply_text(struct reply *reply, char *to, size_t size, bool *fits)
{
    char *word = next_word(reply);
    if (!word || *word != '\'' || !unescape(++word))
        return false;
    *fits = strlen(word) < size;
    if (*fits)
        memcpy(to, word, strlen(word) + 1);
    return true;
}

bool reply_ends(const struct reply *reply)
{
    return reply->cursor[strspn(reply->cursor, " ")] == '\0';
}

void reply_free(struct reply *reply)
{
    free(reply->text);
    reply->text = NULL;
}
