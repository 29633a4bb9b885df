package fake

import "context"

// The smallest real files of their kinds, in base64: a PNG of one red pixel and a WAV of eight samples.
const (
	pngPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
	wavBlip  = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAoMDgwKCAYA=="
	zipEmpty = "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="
)

const (
	imageBlock = `{"type":"image","data":"` + pngPixel + `","mimeType":"image/png"}`
	audioBlock = `{"type":"audio","data":"` + wavBlip + `","mimeType":"audio/wav"}`
	blobBlock  = `{"type":"resource","resource":{"uri":"fake://archive","mimeType":"application/zip","blob":"` + zipEmpty + `"}}`
	noteBlock  = `{"type":"resource","resource":{"uri":"fake://note","mimeType":"text/plain","text":"a note"}}`
	linkBlock  = `{"type":"resource_link","uri":"fake://linked","name":"linked","mimeType":"text/plain"}`
)

// contentTools return each kind of content that the protocol knows.
func contentTools() []tool {
	return []tool{
		fixed("image", "Returns an image.", imageBlock),
		fixed("audio", "Returns a sound.", audioBlock),
		fixed("blob", "Returns a binary resource.", blobBlock),
		fixed("mixed", "Returns every kind of content.", `{"type":"text","text":"first"},`+imageBlock+`,`+audioBlock+`,`+noteBlock+`,`+blobBlock+`,`+linkBlock+`,{"type":"text","text":"last"}`),
	}
}

// fixed is a tool without parameters that always returns the same content.
func fixed(name, description, content string) tool {
	return fixedResult(name, description, `{"content":[`+content+`]}`)
}

// fixedResult is the same with the whole result given.
func fixedResult(name, description, result string) tool {
	return tool{
		name:       name,
		definition: define(name, description, ``, ``),
		run:        func(context.Context, *call) ([]byte, error) { return []byte(result), nil },
	}
}
